//! What a command writes, links, renames and copies, and then uses by another name or after something that may have failed.

use crate::{both, rules, verdict};
use shward_policy::Decision::{Allow, Deny};

/// What every text below would do if it were run.
const D: &str = "rm -rf /home/dev";

/// Links that the command makes, and `..` behind them. `~` would be told without a link.
#[test]
fn a_path_is_followed_through_the_links_that_the_command_makes() {
    let mut wrong = Vec::new();
    for command in [
        "ln -s /tmp t; cp evil t/../home/dev/.bashrc",
        "ln -s /tmp t; echo x > t/../etc/profile",
        "ln -s /tmp t; cat t/../etc/shadow",
        "ln -s /tmp t; cat t/../etc/sh?dow",
        "ln -s .git/hooks h; echo x > h/../config",
        "ln -s .git/hooks h; cd h && echo x > ../config",
        "ln -s .git/hooks h; cd h; cd ..; echo x > config",
        "ln -s .git/hooks h; cd -P h; cd ..; echo x > config",
        "ln -s .git/hooks h; (cd h/..; echo x > config)",
        "python3 -c 'import os; os.symlink(\".git/hooks\", \"h\"); open(\"h/../config\", \"w\").write(\"x\")'",
        "ln -s /etc/cron.d h; cd h; cat ../shadow",
        "ln -s /etc/cron.d h; cd h; echo x > ../passwd",
        "ln -s a b; ln -s /etc a; echo x > b/profile",
        "ln -s /etc h; ln -s h g; echo x > g/profile",
        "ln -s /etc h; ln -s ../h sub/g; echo x > sub/g/profile",
        "ln -s /etc h; cp -P h g; echo x > g/profile",
        "ln -s /etc h; cp -a h g; echo x > g/profile",
        "ln -s /etc h; mv h g; echo x > g/profile",
        "ln -s /etc h; mv h sub/; echo x > sub/h/profile",
        "mkdir d; ln -s /etc d/h; mv d e; echo x > e/h/profile",
        "mkdir d; ln -s /etc d/h; cp -r d e; echo x > e/h/profile",
        "mkdir d e; ln -s /etc d/h; cp -a d/. e; echo x > e/h/profile",
        "mkdir d e; ln -s /etc d/h; mv d/* e; echo x > e/h/profile",
        "mkdir d e; ln -s /etc d/h; rsync -a d/ e; echo x > e/h/profile",
        "cp -l ~/.bashrc h; echo x > h",
        "cp -s /etc/profile h; echo x > h",
        "cp -rs /etc e; echo x > e/profile",
        "ln -s /etc/* .; echo x > profile",
        "ln -s /etc h; echo x > [h]/profile",
        "ln -s /etc h; ln -s profile h/x; echo x > h/x",
    ] {
        if both(command) != (Deny, Deny) {
            wrong.push(format!("{command}: {:?}", both(command)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A link in the workspace is no reason to ask.
#[test]
fn links_within_the_workspace_are_links() {
    let mut wrong = Vec::new();
    for command in [
        "ln -s src link; cat link/../README.md",
        "ln -s a b; ln -s b c; cat c",
        "ln -sf src lib; cd lib && make",
        "mkdir -p a/b; ln -s b a/c; ls a/c/..",
        "ln -s run.sh r.sh; sh r.sh",
        "for i in 1 2 3; do ln -s ../data/$i d$i; done; cat d1/x",
        "echo true > y; ln -s y x.sh; sh x.sh",
    ] {
        if both(command) != (Allow, Allow) {
            wrong.push(format!("{command}: {:?}", rules(&verdict(command, false))));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The text is there when it is run: it is read, or asked about.
#[test]
fn what_a_file_holds_is_not_told_wrong() {
    let mut wrong = Vec::new();
    for command in [
        "echo D > y; ln y x.sh; sh x.sh",
        "echo D > y; ln -s y x.sh; sh x.sh",
        "ln -s y x.sh; echo D > y; sh x.sh",
        "echo D > y; ln y x.sh; . ./y",
        "echo D > y; ln y x.sh; bash < y",
        "echo D > y; ln y x.sh; cat y | sh",
        "echo D > y; ln y x.sh; eval \"$(cat y)\"",
        "echo D > y; ln y x.sh; cp y z; sh z",
        "echo D > x.sh; touch x.sh; sh x.sh",
        "echo D > x.sh; touch x.sh; chmod +x x.sh; ./x.sh",
        "echo D > x.sh; truncate -s 100 x.sh; sh x.sh",
        "echo true > x.sh; ln -s x.sh y; echo D > y; sh x.sh",
        "echo true > x.sh; ln x.sh y; echo D > y; sh x.sh",
        "echo true > x.sh; ln x.sh y; echo D >> y; sh x.sh",
        "echo D > x.sh; echo true < nofile > x.sh; sh x.sh",
        "echo D > x.sh; { echo true > x.sh; } < nofile; sh x.sh",
        "echo D > x.sh; set -C; echo true > x.sh; sh x.sh",
        "echo D > x.sh; set -o noclobber; echo true > x.sh; ./x.sh",
        "echo D > x.sh; chmod -w x.sh; echo true > x.sh; sh x.sh",
        "echo D > x.sh; echo true > y; cp -n y x.sh; sh x.sh",
        "echo D > x.sh; echo true > y; mv -n y x.sh; sh x.sh",
        "echo D > x.sh; echo true > y; cp -i y x.sh < /dev/null; sh x.sh",
        "echo D > x.sh; echo true > y; ln y x.sh; sh x.sh",
        "echo D > x.sh; echo true > y; ln -s y x.sh; sh x.sh",
        "echo D > x.sh; cp nofile x.sh; sh x.sh",
        "echo D > x.sh; echo true | tee -a x.sh; sh x.sh",
        "echo D > x.sh; echo true | dd conv=notrunc seek=9999 of=x.sh; sh x.sh",
        "echo D > x.sh; echo true | dd oflag=append of=x.sh; sh x.sh",
        "echo 'exit; D' | dd bs=1 skip=6 of=x.sh; sh x.sh",
        "echo D > x.sh; { sleep 1; echo true > x.sh; } & sh x.sh",
        "{ sleep 1; echo D > x.sh; } & echo true > x.sh; sleep 2; sh x.sh",
        "echo D > x.sh; { sleep 1; echo true > x.sh; } | sh x.sh",
        "echo D > x.sh; coproc { sleep 1; echo true > x.sh; }; sh x.sh",
        "echo D > x.sh; echo true > >(sleep 1; cat > x.sh); sh x.sh",
        "echo D > x.sh; rm -i x.sh < /dev/null; sh x.sh",
        "echo D > x.sh; false && echo true > x.sh; sh x.sh",
        "mkdir -p d && echo D > x.sh; sh x.sh",
        "mkdir d; echo D > d/x.sh; mv d e; sh e/x.sh",
        "mkdir d; echo D > d/x.sh; cp -r d e; sh e/x.sh",
        "mkdir d e; echo D > d/x.sh; cp -r d e; sh e/d/x.sh",
        "mkdir d e; echo D > d/x.sh; mv d/* e; sh e/x.sh",
        "mkdir d e; echo D > d/x.sh; cp -r d/. e; sh e/x.sh",
        "mkdir d e; echo D > e/x.sh; echo true > d/x.sh; cp -r e/. d; sh d/x.sh",
        "mkdir d; echo D > d/x.sh; ln -s d e; sh e/x.sh",
        "mkdir d; echo D > x.sh; mv x.sh d; sh d/x.sh",
        "mkdir d; echo D > x.sh; cp -t d x.sh; sh d/x.sh",
        "mkdir d; echo D > x.sh; install x.sh d; sh d/x.sh",
        "mkdir d; echo D > a; echo exit > b; cp b a d/; sh d/a",
        "echo D > y; split y; sh xaa",
        "echo D > y; tar cf a.tar y; mkdir d; tar xf a.tar -C d; sh d/y",
        "echo D > x.sh; tar cf a.tar x.sh; echo true > x.sh; tar xf a.tar; sh x.sh",
        "echo D > x.sh; git add x.sh; echo true > x.sh; git checkout x.sh; sh x.sh",
        "exec > x.sh; echo D; sh x.sh",
        "ln -s .git/hooks h; env -C h/.. tee config < x",
        "fmt <<< 'D' > y; sh y",
        "echo D > x; sed '' x > y; sh y",
        "date +'D' > y; sh y",
        "python3 -c \"open('x.sh','x').write('D')\"; sh x.sh",
    ] {
        let command = command.replace('D', D);
        if both(&command).0 == Allow {
            wrong.push(command);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What an agent does with a file that it has just written.
#[test]
fn a_file_that_was_just_written_is_read() {
    let mut wrong = Vec::new();
    for command in [
        "echo true > x.sh; chmod +x x.sh; ./x.sh",
        "cd sub && echo true > x.sh; sh x.sh",
        "mkdir -p t && cat > t/a.py <<'E'\nprint(1)\nE\npython3 t/a.py",
        "echo false > x.sh; echo true > x.sh; sh x.sh",
        "echo true > x.sh && sh x.sh && rm x.sh",
        "touch a.txt; echo true > x.sh; cp x.sh y.sh; sh y.sh",
        "echo ls | tee x.sh; sh x.sh",
        "sed -i s/a/b/ run.sh; sh run.sh",
        "mv run.sh go.sh; sh go.sh",
        "cp a.py b.py; python3 b.py",
        "cp -r src copy; python3 copy/main.py",
        "cat > a.c <<'E'\nint main(){}\nE\ngcc a.c -o a && ./a",
        "make > log 2>&1; cat log",
    ] {
        if both(command).0 != Allow {
            wrong.push(format!("{command}: {:?}", rules(&verdict(command, false))));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The whole workspace is taken away.
#[test]
fn a_workspace_that_is_moved_is_lost() {
    assert_ne!(both("mv ../proj /tmp/x").0, Allow);
    assert_ne!(both("mv /home/dev/proj /tmp/x").0, Allow);
    assert_eq!(both("mv src lib").0, Allow);
}
