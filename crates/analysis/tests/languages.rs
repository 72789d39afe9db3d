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

/// What a name is bound to now is certain only if nothing that runs at another time binds it.
#[test]
fn python_names_are_bound_from_elsewhere() {
    assert_all(
        python,
        &[
            (
                "import shutil\ndef g():\n    global p\n    p = '/home/u'\np = 'build'\ng()\nshutil.rmtree(p)",
                "delete-tree:build delete-tree:~",
            ),
            (
                "def g():\n    global f\n    from os import system as f\nf = print\ng()\nf('rm -r a')",
                "delete-tree:a",
            ),
            ("import os\ng = (p := 'b' for _ in [1])\np = 'a'\nlist(g)\nos.remove(p)", "delete:a delete:b"),
            ("open = lambda *a: None\ndel open\nopen('a', 'a')", "append:a"),
            ("import os\np = 'a'\nexec(\"p = 'b'\", {})\nos.remove(p)", "delete:a delete:b"),
            ("import os\nexec('f(x)', {'f': os.system, 'x': 'rm a'})", "delete:a code:shell"),
            ("import timeit\ntimeit.timeit('pass', 'import os; os.remove(\"a\")')", "delete:a"),
            // Still certain: branches, loops and functions of their own.
            ("import os\nfor p in 'ab':\n    print(p)\np = 'a'\nos.remove(p)", "delete:a"),
            ("import os\ndef f():\n    p = 'b'\n    print(p)\np = 'a'\nos.remove(p)", "delete:a"),
        ],
    );
}

/// Lists are taken for what they were made of only as long as nothing may have changed their order.
#[test]
fn python_lists_change() {
    let run = |change: &str| {
        python(&format!("import subprocess\na = ['ls', 'rm', 'x']\n{change}\nsubprocess.run(a)"))
    };
    assert_all(
        run,
        &[
            ("a[0] = 'rm'", "code:shell"),
            ("a[:] = ['rm', 'x']", "code:shell"),
            ("a[0:1] = []", "code:shell"),
            ("a.__setitem__(0, 'rm')", "code:shell"),
            ("import operator; operator.setitem(a, 0, 'rm')", "code:shell"),
            ("for a[0] in ['rm']: pass", "code:shell"),
            ("a[0], a[1] = a[1], a[0]", "code:shell"),
            ("a.pop(0)", "code:shell"),
            ("del a[0]", "code:shell"),
            ("del (a[0])", "code:shell"),
            ("a.remove('ls')", "code:shell"),
            ("a.clear(); a.extend(['rm', 'x'])", "code:shell"),
            ("a.reverse()", "code:shell"),
            ("a.sort(key=len)", "code:shell"),
            ("list.reverse(a)", "code:shell"),
            ("f = a.reverse; f()", "code:shell"),
            ("a.insert(0, 'rm')", "code:shell"),
            ("import random; random.shuffle(a)", "code:shell"),
            ("import heapq; heapq.heapify(a)", "code:shell"),
            ("b = a\na += ['y']\nb[0] = 'rm'", "code:shell"),
            ("def f(): return a\nf().reverse()", "code:shell"),
            ("import mine; mine.change(a)", "code:project code:shell"),
            ("a = a[1:]", "delete:x"),
            ("a = a[::-1]", "exec:x"),
            ("a = a[0::2]", "list:x"),
            ("a = ['ls'] * 0 + ['rm', 'x']", "delete:x"),
            ("a = [*['rm', '-r'], 'x']", "delete-tree:x"),
            ("a = ['rm'] if a else ['rmdir']; a = a + ['x']", "delete:x"),
            ("import json; a = json.loads('') + ['ls']", "code:shell"),
            ("a = sorted(a)", "code:shell"),
            ("a = [b for b in a]", "code:shell"),
            // Still certain.
            ("print(a, len(a), ' '.join(a), a[0])", "list:rm list:x"),
            ("a = ['rm'] + ['x']", "delete:x"),
            ("a = ['rm']; a += ['-r']; a += ['x']", "delete-tree:x"),
            ("a = tuple(a[1:3])", "delete:x"),
        ],
    );
    assert_all(
        python,
        &[
            ("import os\na = ['ls', 'rm x']\na.reverse()\nos.system(a[0])", "delete:x list:."),
            ("import os\nos.system(sorted(['rm x', 'ls'])[1])", "delete:x list:."),
            ("import os\nfor x in {'a'}.union({'b'}): os.remove(x)", "delete:a delete:b"),
            ("import os\nb = bytearray(b'ls')\nb.extend(b';rm x')\nos.system(b.decode())", "code:shell"),
            ("import os\n[os.remove].__getitem__(0)('a')", "delete:a"),
            ("import os\nnext(iter([os.remove]))('a')", "delete:a"),
            ("import os\nf = [os.remove].pop\nf()('a')", "delete:*"),
        ],
    );
}

/// What a call is given by position, or by a dictionary that was changed, counts as what is given by name.
#[test]
fn python_starts_programs_with_what_they_are_given() {
    assert_all(
        |call| python(&format!("import os, subprocess, asyncio\n{call}")),
        &[
            ("k = {'shell': False}\nk['shell'] = True\nsubprocess.run('ls', **k)", "list:. code:shell"),
            ("subprocess.run('ls', **dict(executable='./x'))", "list:. code:shell"),
            ("k = {}\nk.update(cwd='s')\nsubprocess.run(['rm', 'a'], **k)", "delete:a code:shell"),
            ("k = {'cwd': 's'}\nsubprocess.run(['rm', 'a'], **k)", "delete:s/a"),
            ("k = {'cwd': 's'}\ndel k['cwd']\nsubprocess.run(['rm', 'a'], **k)", "delete:a code:shell"),
            ("subprocess.run('rm a', **{'shell': False, 'shell': True})", "delete:a"),
            ("subprocess.Popen('ls; rm a', -1, None, None, None, None, None, True, True)", "list:. delete:a"),
            (
                "subprocess.Popen(['rm', 'a'], -1, None, None, None, None, None, True, False, 's')",
                "delete:s/a",
            ),
            ("os.popen('sh', 'w').write('rm a')", "code:shell"),
            ("os.popen('ls', 'r').read()", "list:."),
            ("subprocess.run(['rm', 'a'], shell=False)", "delete:a"),
            ("asyncio.run(asyncio.create_subprocess_exec('rm', '-r', 'a', cwd='s'))", "delete-tree:s/a"),
            ("asyncio.run(asyncio.create_subprocess_shell('rm a', cwd='s'))", "delete:s/a"),
            ("os.execv('/bin/ls', ['ls', 'a'])", "list:a"),
            ("os.execv('/bin/ls', ['rm', 'a'])", "list:a code:shell"),
            ("os.execve('/bin/ls', ['ls'], {'LD_PRELOAD': 'x'})", "list:. unknown:variable"),
            ("subprocess.run(['ls'], env={**os.environ, 'LD_PRELOAD': 'x'})", "list:. unknown:variable"),
            ("os.environ.update([('LD_PRELOAD', 'x')])\nos.system('ls')", "list:. code:shell"),
        ],
    );
}

/// What may run once the directory has changed is not known to run before.
#[test]
fn python_changes_directory() {
    assert_all(
        |program| python(&format!("import os, shutil, contextlib\n{program}")),
        &[
            ("def f(): open('a', 'w')\nos.chdir('/home/u')\nf()", "write:*"),
            ("class A:\n    def f(self): open('a', 'w')\nos.chdir('/home/u')\nA().f()", "write:*"),
            ("f = lambda: os.remove('a')\nos.chdir('/home/u')\nf()", "delete:*"),
            ("for i in 'ab':\n    os.remove('a')\n    os.chdir('/home/u')", "delete:*"),
            ("def f(): os.remove('a')\nwith contextlib.chdir('/etc'): f()", "delete:*"),
            ("with contextlib.chdir('/tmp/x'): pass\nos.remove('a')", "delete:*"),
            ("d = os.getcwd()\nos.chdir('/tmp/x')\nshutil.rmtree(d)", "delete-tree:."),
            ("p = os.path.abspath('a')\nos.chdir('/tmp/x')\nos.remove(p)", "delete:a"),
            ("f = os.open('s', os.O_RDONLY)\nos.unlink('a', dir_fd=f)", "read:s modify:s delete:*"),
            ("open(os.path.expanduser('~other/a'), 'a')", "append:*"),
            (
                "os.environ['HOME'] = '/etc'\nopen(os.path.expanduser('~/a'), 'a')",
                "append:* unknown:variable",
            ),
            // Still certain: it changes before.
            ("os.chdir('s')\ndef f(): open('a', 'w')\nf()", "write:s/a"),
            ("os.chdir('s')\nfor p in ['a']: os.remove(p)\nprint(os.getcwd())", "delete:s/a"),
        ],
    );
}

/// Members of modules that are replaced, and those that execute.
#[test]
fn python_members_are_replaced() {
    assert_all(
        |program| python(&format!("import os, shutil\n{program}")),
        &[
            ("os.getcwd = lambda: 'rm a'\nos.system(os.getcwd())", "code:python exec:."),
            (
                "os.path.abspath = lambda x: 'b'\nshutil.rmtree(os.path.abspath('a'))",
                "delete-tree:a code:python",
            ),
            ("import __main__\nc = 'ls'\n__main__.c = 'rm a'\nos.system(c)", "list:. code:python"),
            ("setattr(os, 'getcwd', lambda: 'rm a')", "code:python"),
            ("del os.getcwd", "code:python"),
            ("import sys, io\nsys.stdout = io.StringIO()", ""),
            ("import time\ntime.sleep = lambda s: None", ""),
            ("import doctest; doctest.testmod()", "code:python"),
            ("import typing; typing.get_type_hints(1)", "code:python"),
            ("import inspect; inspect.get_annotations(1, eval_str=True)", "code:python"),
            ("import inspect; inspect.signature(len)", ""),
            ("import pkgutil; pkgutil.resolve_name('os:system')('rm a')", "code:python"),
            (
                "from unittest.mock import patch\nwith patch('os.getcwd', return_value='rm a'): pass",
                "code:python",
            ),
            ("from unittest.mock import patch\nwith patch.object(os, 'getcwd', 1): pass", "code:python"),
            ("type('A', (), {'x': os.remove}).x('a')", "delete:*"),
            ("try: raise Exception(os.remove)\nexcept Exception as e: e.args[0]('a')", "delete:*"),
            ("def f(c): os.remove(c)\ndef g(): return f\nf('a')\ng()('b')", "delete:a delete:*"),
            ("def f(c): os.remove(c)\nf('a')\nf.__call__('b')", "delete:a delete:b"),
            ("os.system(str.join('', ['rm', ' a']))", "code:shell"),
            ("os.system(str(b'+AHIAbQ- a', 'utf-7'))", "code:shell"),
            ("import wave; wave.open('a', 'wb')", "write:a"),
            ("import py_compile; py_compile.compile('x.py', 'a')", "write:a"),
            ("import xml.etree.ElementTree as E\nE.ElementTree(E.fromstring('<a/>')).write('a')", "write:a"),
            ("import sys; sys.path[:0] = ['/tmp/x']; import mine", "code:project exec:/tmp/x"),
        ],
    );
}

/// Options that are not spelt out at the call may be any.
#[test]
fn javascript_options_are_made_elsewhere() {
    assert_all(
        |call| effects(&["node", "-e", &format!("const {{spawnSync}} = require('child_process'); {call}")]),
        &[
            ("const o = {}; o.shell = true; spawnSync('ls', ['a'], o)", "list:a list:* code:shell"),
            (
                "const o = {cwd: 's'}; spawnSync('rm', ['a'], o)",
                "delete:a delete:* code:shell unknown:argument",
            ),
            ("spawnSync('rm', ['a'], {'cwd': 's'})", "delete:a delete:* code:shell unknown:argument"),
            ("spawnSync('rm', ['a'], {encoding: 'utf8'})", "delete:a"),
            ("spawnSync('rm', ['a'])", "delete:a"),
        ],
    );
}
