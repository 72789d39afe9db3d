//! Programs in other languages, given to their interpreters: what they do, in the short form of `docs/knowledge.md`.

mod short;

use bumpalo::Bump;
use short::{CWD, HOME, short};
use shward_analysis::{
    Effect, EffectKind, Endpoint, Frozen, Request, Rest, Scope, Source, Target, WriteMode, analyze,
};

/// The effects of an argument list, in the short form.
fn effects(argv: &[&str]) -> Vec<String> {
    let arena = Bump::new();
    let argv: Vec<&[u8]> = argv.iter().map(|word| word.as_bytes()).collect();
    let request = Request {
        source: Source::Argv(&argv),
        cwd: CWD.as_bytes(),
        workspace: CWD.as_bytes(),
        home: HOME.as_bytes(),
        dialect: shward_syntax::Dialect::Bash,
    };
    short(analyze(&arena, &request, &Frozen).effects)
}

fn python(program: &str) -> Vec<String> {
    effects(&["python3", "-c", program])
}

/// Programs and all of their effects, separated by blanks.
fn assert_all(read: impl Fn(&str) -> Vec<String>, cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (program, expected) in cases {
        let mut expected: Vec<&str> = expected.split_whitespace().collect();
        expected.sort_unstable();
        let found = read(program);
        if found != expected {
            wrong.push(format!("{program}\n    expected {expected:?}\n    found    {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn python_says_what_it_does() {
    assert_all(
        python,
        &[
            ("print('hello')", ""),
            ("print('os.system(\"rm -rf /\")')  # eval(x)", ""),
            ("import json, sys\nfor line in sys.stdin:\n    print(json.loads(line)['x'])", ""),
            ("import math as m\nprint(m.sqrt(2), f'{m.pi:.3f}')", ""),
            ("x = [i * i for i in range(10) if i % 2]\nprint(sum(x), max(x))", ""),
            ("class A:\n    def __init__(self):\n        self.x = 1\nprint(A().x)", ""),
            ("import re\nprint(re.sub('/etc/passwd', 'b', 'aaa').replace('/etc/shadow', 'c'))", ""),
            ("print(open('a').read())", "read:a"),
            ("open('a', 'w').write('/etc/shadow is a file')", "write:a"),
            ("with open('a', 'a') as f, open('b') as g:\n    f.write(g.read())", "append:a read:b"),
            ("p = 'a/b'\nopen(p, mode='w')", "write:a/b"),
            ("import os\nopen(os.path.join('a', 'b'), 'w')", "write:a/b"),
            ("from pathlib import Path\n(Path('a') / 'b').write_text('x')", "write:a/b"),
            ("from pathlib import Path\nPath('a').unlink()\nPath('b').mkdir()", "delete:a create:b"),
            ("import os\nfor f in ['a', 'b']:\n    os.remove(f)", "delete:a delete:b"),
            ("import shutil; shutil.rmtree('build')", "delete-tree:build"),
            (
                "import shutil; shutil.copy('a', 'b'); shutil.move('c', 'd')",
                "read:a write:b read:c delete:c write:d",
            ),
            ("import os; os.chdir('sub'); open('a', 'w')", "write:sub/a"),
            ("import os; os.chmod('a', 0o755)", "metadata:a"),
            ("import os; os.system('rm a')", "delete:a"),
            ("import subprocess as s; s.run(['rm', '-r', 'a'])", "delete-tree:a"),
            ("import subprocess; subprocess.check_output('cat a', shell=True, cwd='sub')", "read:sub/a"),
            ("import os; print(os.environ['HOME'])", ""),
            ("import os; print(os.environ)", "environment"),
            ("import os; print(os.getenv('API_TOKEN'))", "environment"),
            ("import urllib.request as r; r.urlopen('https://example.com/x')", "connect:example.com"),
            ("import requests; requests.get('http://localhost:8000/')", "connect:localhost"),
            (
                "import requests\nrequests.post('https://example.com', data=open('a').read())",
                "read:a connect:example.com+send",
            ),
            ("import http.server; http.server.HTTPServer(('', 80), None).serve_forever()", "listen"),
            ("import os; print(os.listdir('src'))", "list:src"),
            (
                "import glob\nfor f in glob.glob('src/*.py'):\n    print(open(f).read())",
                "list:src/* read:src/*",
            ),
            (
                "import os; os.symlink('/etc/passwd', 'x'); open('x', 'w')",
                "create:x read:/etc/passwd write:/etc/passwd write:x",
            ),
            (
                "from pathlib import Path; Path('x').symlink_to('/etc'); open('x/a', 'w')",
                "create:x write:/etc/a write:x/a",
            ),
            ("import logging; logging.basicConfig(level=1); logging.info('x')", ""),
            ("import logging; logging.basicConfig(filename='/etc/x')", "append:/etc/x"),
            ("import fileinput\nfor l in fileinput.input('a', inplace=True): print(l)", "modify:a"),
            ("import fileinput\nfor l in fileinput.input('a'): print(l)", "read:a"),
            ("from app import app\napp.test_client().post('/items', json={})", "code:project"),
            ("from app import app\napp.test_client().get('/')", "code:project"),
            ("from app import store\nstore.delete('/etc/x')", "code:project read:/etc/x modify:/etc/x"),
            ("import numpy as np; print(np.zeros(3))", "code:project"),
            ("import pandas as pd; print(pd.read_csv('a.csv').head())", "code:project read:a.csv"),
            (
                "from mypkg.core import run\nrun('/etc/hosts')",
                "code:project read:/etc/hosts modify:/etc/hosts",
            ),
            ("def load(path):\n    return open(path).read()\nprint(load('a'), load('b'))", "read:a read:b"),
            (
                "def save(path, text):\n    with open(path, 'w') as f:\n        f.write(text)\nsave('a', 'b')",
                "write:a",
            ),
            ("import sqlite3\nsqlite3.connect(':memory:').execute('select 1')", ""),
            ("exec('import os\\nos.remove(\"a\")')", "delete:a"),
            ("print('{} is {}'.format('a', 1), 'b' if True else 'c')", ""),
            ("match 1:\n    case 1 | 2 if True:\n        print('x')\n    case _:\n        pass", ""),
            (
                "async def f():\n    async with g() as h:\n        await h\nimport asyncio\nasyncio.run(f())",
                "",
            ),
            ("print 'python 2'", ""),
            ("x: int = 1\nx += 2\na, (b, *c) = 1, (2, 3)\ndel a\nassert x, 'y'\nlambda *a, b=1, **c: b", ""),
        ],
    );
}

/// What a program is found to do the first time it is gone over counts only if going over it again would tell no more.
#[test]
fn python_is_read_again_where_the_first_time_told_too_little() {
    assert_all(
        python,
        &[
            // Nobody is seen to call the function.
            ("import os\ndef f(p):\n    os.remove(p)\nprint(1)", "delete:*"),
            ("import subprocess\ndef f(c):\n    subprocess.run(c, shell=True)", "code:shell"),
            // The call stands after what it makes happen.
            ("import os\ndef f(p):\n    os.remove(p)\nf('a')", "delete:a"),
            ("import os\ndef g(q):\n    f(q)\ndef f(p):\n    os.remove(p)\ng('a')", "delete:a"),
            ("import os\nfor x in 'ab':\n    f(x)\n    f = os.system", "code:shell"),
            // What a star import brings is asked for before it.
            ("def f():\n    system('rm a')\nfrom os import *\nf()", "delete:a"),
            // More is done than is kept in mind at once.
            (&format!("import os\n{}", "os.listdir('a')\n".repeat(1500)), "list:a"),
        ],
    );
    let script = |command: &str| effects(&["bash", "-c", command]);
    assert_all(
        script,
        &[
            (
                "echo 'import os; os.remove(\"a\")' > m.py; python3 -c 'import m'",
                "write:m.py delete:a code:project code:python",
            ),
            (
                "echo 'import os; os.remove(\"a\")' > m.py; python3 -c 'import runpy; runpy.run_path(\"m.py\")'",
                "write:m.py delete:a code:python",
            ),
        ],
    );
}
