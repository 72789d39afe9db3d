use super::modules::{HARMLESS, POWERFUL};
use super::{Mode, Reader, Reading, tokens};
use std::collections::BTreeMap;

fn read(text: &str) -> Option<Reading<'_>> {
    let tokens = tokens::tokens(text.as_bytes())?;
    Reader { tokens: &tokens, at: 0, names: BTreeMap::new(), found: Reading::default() }.read()
}

#[test]
fn tables_are_sorted() {
    assert!(HARMLESS.windows(2).all(|w| w[0].name < w[1].name));
    assert!(POWERFUL.windows(2).all(|w| w[0] < w[1]));
}

#[test]
fn harmless_programs_are_understood() {
    let programs = [
        "print('hello')",
        "import json; print(json.dumps({'a': 1}))",
        "import sys, json\nfor line in sys.stdin:\n    print(json.loads(line)['x'])",
        "import math as m\nprint(m.sqrt(2), f'{m.pi:.3f}')",
        "from datetime import datetime, timedelta\nprint((datetime.now() - timedelta(days=1)).isoformat())",
        "x = [i*i for i in range(10)]\nprint(sum(x), max(x))",
        "import re\nprint(re.sub('a', 'b', 'aaa').replace('b', 'c'))",
        "from collections import Counter\nprint(Counter('abc').most_common(2))",
        "import sys; print(sys.path)",
        "import os\nprint(os.path.join(os.getcwd(), 'x'))",
        "class A:\n    def __init__(self):\n        self.x = 1\nprint(A().x)",
        "print('os.system(\"rm -rf /\")')  # eval(x)",
        "import sys; print(sys.version)",
        "if __name__ == '__main__':\n    print(1)",
        "import datetime; print(f\"{datetime.datetime.now():%Y-%m-%d}\")",
    ];
    for program in programs {
        let found = read(program);
        assert!(found.as_ref().is_some_and(|f| !f.project), "{program}: {found:?}");
    }
}

#[test]
fn what_could_reach_further_is_not_understood() {
    let programs = [
        "import os; os.system('id')",
        "import os as o; o.remove(x)",
        "import os; os.remove('x' + y)",
        "import numpy; numpy.os.remove('x')",
        "import numpy; numpy.system('x')",
        "import asyncio; asyncio.create_subprocess_shell('id')",
        "import logging; logging.basicConfig(filename='x')",
        "import sys; sys.path.insert(0, d)",
        "setattr(x, n, 1)",
        "getattr(os, 'system')",
        "from os import system; system('id')",
        "from os import *",
        "__import__('os').system('id')",
        "eval('1')",
        "x = eval; x('1')",
        "getattr(1, x)",
        "getattr(1, '__globals__')",
        "getattr(1, 'unlink')",
        "().__class__.__base__.__subclasses__()",
        "import subprocess",
        "import shutil; shutil.rmtree('x')",
        "import glob; glob.os.remove('x')",
        "import json; json.codecs.open('x', 'w')",
        "import os; x = os; x.remove('f')",
        "import os\nf(os)",
        "import sys; sys.modules['os'].system('id')",
        "import sys\np = sys.path",
        "open('x', mode)",
        "open(name, 'w')",
        "open('x', 'w', opener=f)",
        "o = open",
        "from pathlib import Path; Path('x').unlink()",
        "from pathlib import Path; p = Path('x'); p.replace('y')",
        "from pathlib import Path; f = Path('x').replace\nf('y')",
        "from pathlib import Path\nPath(n).write_text('x')",
        "ｅval('1')",
        "print(f'{__import__(\"os\")}')",
        "f'{eval(\"1\")}'",
        "f'{x:{eval(\"1\")}}'",
        "import operator; operator.attrgetter('x')",
        "import pickle; pickle.loads(x)",
        "import importlib; importlib.import_module('os')",
        "import builtins",
        "import urllib.request",
        "from urllib import request",
        "import random; random._os.system('id')",
        "'unterminated",
        "def f():\n  import socket\n",
        "if 1: import ctypes",
        "x = 1; import subprocess",
        "lambda: exec('1')",
    ];
    for program in programs {
        assert_eq!(read(program), None, "{program}");
    }
}

#[test]
fn code_of_the_project_is_told_apart() {
    for program in [
        "import numpy as np; print(np.zeros(3))",
        "from mypkg.core import run\nrun()",
        "import torch; print(torch.__version__)",
    ] {
        assert!(read(program).is_some_and(|f| f.project), "{program}");
    }
    assert_eq!(read("import mypkg, os; os.system('x')"), None);
    assert_eq!(read("import mypkg; eval('1')"), None);
}

#[test]
fn files_are_found() {
    let found = read("import json\nd = json.load(open('a.json'))\nwith open('out', 'w') as f: f.write('x')\nopen('log', mode='a')").unwrap();
    assert_eq!(found.reads, [Some(&b"a.json"[..])]);
    assert_eq!(found.writes, [(&b"out"[..], Mode::Replace), (&b"log"[..], Mode::Append)]);
    let found = read("for n in names: print(open(n).read())").unwrap();
    assert_eq!(found.reads, [None]);
    let found = read("from pathlib import Path\nprint(Path('x.txt').read_text())").unwrap();
    assert_eq!(found.reads, [Some(&b"x.txt"[..])]);
    let found = read("from pathlib import Path\nfor p in Path('.').glob('*'): print(p.read_text())").unwrap();
    assert_eq!(found.reads, [None]);
    let found = read("import os; print(os.environ)").unwrap();
    assert!(found.environment);
    let found =
        read("import os; print(os.environ.get('LANG'), os.getenv('HOME')); os.environ['A'] = 'b'").unwrap();
    assert!(found.variable && !found.environment);
    let found = read("import os; print(os.environ.get('API_KEY'))").unwrap();
    assert!(found.environment);
    let found = read("import os; os.makedirs('a/b', exist_ok=True); os.remove('c')").unwrap();
    assert_eq!((found.creates, found.deletes), (vec![&b"a/b"[..]], vec![&b"c"[..]]));
    let found = read("import sys; sys.path.insert(0, 'src'); import mine").unwrap();
    assert_eq!((found.search, found.project), (vec![&b"src"[..]], true));
    let found = read("import requests; print(requests.get('https://example.com').text)").unwrap();
    assert!(found.network && found.project);
    let found = read("print(getattr(x, 'y', 1))").unwrap();
    assert!(!found.project);
    let found = read("import os; print(os.listdir('src'))").unwrap();
    assert_eq!(found.lists, [Some(&b"src"[..])]);
}
