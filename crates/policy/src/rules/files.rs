//! What is read, written, deleted and otherwise changed in the file system.

use crate::condition::{Extent, Subject, on};
use crate::decision::Tier::{Four, One, Three, Two};
use crate::kinds::{Kinds, Scopes};
use crate::pattern::is_below;
use crate::rule::Rule;
use shward_analysis::{Covers, EffectKind, Origins, Rest, Target};

const OUTSIDE: Scopes = Scopes::HOME.or(Scopes::ELSEWHERE);
const INSIDE: Scopes = Scopes::WORKSPACE.or(Scopes::PRODUCT);

/// Where names come from that the command does not spell out.
const LISTED: Origins = Origins::FILE
    .union(Origins::NETWORK)
    .union(Origins::DECODED)
    .union(Origins::NAMES)
    .union(Origins::SECRET);

/// Directories that belong to the system even where a more telling scope names what lies in them.
const SYSTEM_ROOTS: [&[u8]; 5] = [b"/etc", b"/usr", b"/var", b"/run", b"/boot"];

fn in_system(subject: &Subject<'_>) -> bool {
    SYSTEM_ROOTS.iter().any(|root| is_below(subject.path(), root)) && !in_project(subject)
}

/// Projects lie below some of them, too, and what they keep secret is their own.
fn in_project(subject: &Subject<'_>) -> bool {
    const HOUSES: [&[u8]; 5] =
        [b"/usr/src", b"/usr/local/src", b"/var/www", b"/var/tmp", b"/var/lib/jenkins/workspace"];
    let workspace = subject.context.workspace;
    let houses = |house: &&[u8]| is_below(workspace, house) && !is_below(house, workspace);
    HOUSES.iter().any(houses) && is_below(subject.path(), workspace)
}

/// The other directories of the system. Projects lie in some of them as well, and what the workspace keeps secret is its own.
fn in_rest_of_system(subject: &Subject<'_>) -> bool {
    const ROOTS: [&[u8]; 13] = [
        b"/bin", b"/dev", b"/lib", b"/lib32", b"/lib64", b"/libx32", b"/nix", b"/opt", b"/proc", b"/sbin",
        b"/snap", b"/srv", b"/sys",
    ];
    let (path, workspace) = (subject.path(), subject.context.workspace);
    let holds =
        |root: &&[u8]| is_below(path, root) && !(is_below(workspace, root) && is_below(path, workspace));
    ROOTS.iter().any(holds) && !is_below(path, b"/dev/shm")
}

/// A name of its own directly below the root is nothing of the system's.
fn is_root_entry(subject: &Subject<'_>) -> bool {
    subject.kinds == Kinds::WRITE && subject.path() == b"/" && subject.detail() != "below"
}

/// Kernel files tell about the machine when they are read; only other devices hold data.
fn is_data_device(subject: &Subject<'_>) -> bool {
    !is_below(subject.path(), b"/proc") && !is_below(subject.path(), b"/sys")
}

/// A pattern inside the workspace that may match a secret file among others.
fn may_only(subject: &Subject<'_>) -> bool {
    subject.target().is_some_and(|target| {
        target.rest == Rest::Unknown
            || (target.rest == Rest::Glob && is_below(target.path, subject.context.workspace))
    })
}

/// The files in which shells keep what was typed.
fn is_shell_history(subject: &Subject<'_>) -> bool {
    const FILES: [&[u8]; 5] =
        [b"/.bash_history", b"/.zsh_history", b"/.sh_history", b"/.history", b"/fish/fish_history"];
    // A shell adds what was typed by itself.
    subject.detail() != "append" && FILES.iter().any(|file| subject.path().ends_with(file))
}

/// The place is known as far as to say what lies there; what may be anywhere is judged as not known.
fn is_somewhere(subject: &Subject<'_>) -> bool {
    subject.target().is_some_and(|target| target.rest != Rest::Unknown)
}

/// Files that git leaves behind where it was killed, and that hold a repository as long as they are there: removing one loses nothing.
const LOCKS: [&[u8]; 5] = [
    b"/.git/HEAD.lock",
    b"/.git/config.lock",
    b"/.git/index.lock",
    b"/.git/packed-refs.lock",
    b"/.git/shallow.lock",
];

/// It is no such file alone.
fn is_no_lock(subject: &Subject<'_>) -> bool {
    let is_lock = |target: &Target<'_>| {
        target.rest == Rest::Exact && !target.tree && LOCKS.iter().any(|lock| target.path.ends_with(lock))
    };
    !subject.target().is_some_and(is_lock)
}

/// It does not lie elsewhere then.
fn is_lost(subject: &Subject<'_>) -> bool {
    !subject.effect.is_some_and(|effect| matches!(effect.kind, EffectKind::Delete { kept: true, .. }))
}

/// The place is known.
fn is_one(subject: &Subject<'_>) -> bool {
    subject.target().is_some_and(|target| target.rest == Rest::Exact)
}

/// Not only some of the names below a place, as a search finds them.
fn is_not_chosen(subject: &Subject<'_>) -> bool {
    subject.target().is_some_and(|target| target.tree || target.rest != Rest::Below)
}

fn surely(subject: &Subject<'_>) -> bool {
    !may_only(subject)
}

fn root(covers: &Covers) -> bool {
    covers.root
}

fn home(covers: &Covers) -> bool {
    covers.home
}

fn system(covers: &Covers) -> bool {
    covers.system
}

fn workspace(covers: &Covers) -> bool {
    covers.workspace
}

fn repository(covers: &Covers) -> bool {
    covers.repository
}

fn own(covers: &Covers) -> bool {
    covers.own
}

/// A directory of settings, and not one in which they lie among much else.
fn settings(covers: &Covers) -> bool {
    covers.own && !covers.home && !covers.workspace
}

fn guarded(covers: &Covers) -> bool {
    covers.guarded
}

fn processes(covers: &Covers) -> bool {
    covers.processes
}

fn secrets(covers: &Covers) -> bool {
    covers.secrets
}

pub(super) const RULES: &[Rule] = &[
    // Destruction beyond repair.
    Rule::deny(
        "root-destroyed",
        Four,
        &[on(Kinds::CHANGE.without(Kinds::WRITE)).extent(Extent::Everything).covering(root)],
        "Would delete or change everything on this machine. Name the exact files or the one directory that is meant.",
    )
    .floor(),
    Rule::deny(
        "home-destroyed",
        Four,
        &[on(Kinds::CHANGE.without(Kinds::WRITE)).extent(Extent::Everything).covering(home)],
        "Would delete or change a whole home directory, keys and settings included. Name the exact files or the one \
         directory that is meant.",
    )
    .floor(),
    Rule::deny(
        "system-destroyed",
        Four,
        &[on(Kinds::CHANGE.without(Kinds::WRITE)).extent(Extent::Everything).covering(system)],
        "Would delete or change the system directory {place} with all that is in it. A machine does not come back from \
         that. Work in the workspace or in a temporary directory.",
    )
    .floor(),
    // The firewall itself.
    Rule::deny(
        "own-changed",
        Four,
        &[
            on(Kinds::CHANGE).at(Scopes::OWN),
            on(Kinds::CHANGE).covering(guarded),
            on(Kinds::CHANGE).extent(Extent::Tree).covering(own).and(is_somewhere),
            // What is unpacked or copied there may be one of them.
            on(Kinds::WRITE).what(&["below"]).covering(own).and(is_one),
            on(Kinds::WRITE).what(&["below"]).covering(settings).and(is_somewhere),
            // A directory that is moved away takes along what lies in it, and in one that is closed nobody finds it.
            on(Kinds::DELETE).covering(own).and(is_one),
            on(Kinds::METADATA).what(&["mode", "owner"]).covering(settings).and(is_one),
        ],
        "Would change {place}: the configuration, state or hooks of this firewall or of the agent that it guards. No \
         command may do that. If the rules are in the way, say which one and why; a person can change them.",
    )
    .floor(),
    Rule::ask(
        "own-read",
        Two,
        &[
            on(Kinds::READ).at(Scopes::OWN),
            // A copy of the program is not known as it when it is told to approve something.
            on(Kinds::READ).covering(guarded).and(is_one),
        ],
        "Reads {place}, the configuration of this firewall or of the agent that it guards. What is allowed can be asked: \
         `shward check -- COMMAND`.",
    )
    .instead("shward check -- COMMAND"),
    // Devices and the kernel.
    Rule::deny(
        "device-changed",
        Four,
        &[on(Kinds::CHANGE).at(Scopes::DEVICE.or(Scopes::ENVIRONMENT))],
        "Writes to {place}: a device, a kernel interface or the memory of a process. That can destroy a disk or take over \
         the machine. Write to a file in the workspace instead.",
    )
    .instead("dd if=FILE of=disk.img")
    .floor(),
    Rule::deny(
        "device-read",
        Three,
        &[on(Kinds::READ).at(Scopes::DEVICE).and(is_data_device)],
        "Reads {place} directly, past all file permissions. Read the files themselves.",
    )
    .instead("lsblk -f"),
    Rule::deny(
        "memory-read",
        Three,
        &[on(Kinds::READ).at(Scopes::ENVIRONMENT).and(|s| !s.path().is_empty())],
        "Reads {place}: the memory, environment or open files of a process, where passwords and tokens are. Ask the \
         program itself for what is needed.",
    )
    .instead("ps -p PID"),
    Rule::contain(
        "environment-read",
        Two,
        &[on(Kinds::READ).at(Scopes::ENVIRONMENT).and(|s| s.path().is_empty())],
        "Prints the environment, or a variable that holds a token by its name. Print the one variable that is needed, or \
         whether it is set.",
    )
    .instead("printf '%s\\n' \"$NAME\""),
    // Secrets.
    Rule::deny(
        "secret-read",
        Three,
        &[on(Kinds::READ).at(Scopes::SECRET).and(surely)],
        "Reads {place}, which holds keys, tokens or passwords. What a command prints reaches the model and its logs. Work \
         with a placeholder or an example file, or let a person do this step.",
    )
    .instead("ls -l FILE"),
    Rule::ask(
        "secret-read-perhaps",
        Three,
        &[on(Kinds::READ).at(Scopes::SECRET).and(may_only)],
        "May read keys, tokens or passwords: {place} can be such a file. Name the files that are meant.",
    ),
    Rule::contain(
        "secrets-searched",
        Three,
        &[
            on(Kinds::READ).extent(Extent::Tree).covering(secrets),
            on(Kinds::READ).extent(Extent::Tree).covering(processes),
        ],
        "Reads {place}, credential stores included. Name the directories that are meant.",
    )
    .instead("grep -rn PATTERN src"),
    Rule::deny(
        "secret-of-system-changed",
        Four,
        &[on(Kinds::CHANGE).at(Scopes::SECRET).and(in_system)],
        "Changes {place}, where the system keeps passwords or keys. A person has to do that.",
    )
    .floor(),
    Rule::deny(
        "traces-erased",
        Three,
        &[on(Kinds::CHANGE).at(Scopes::SECRET).and(is_shell_history)],
        "Changes {place}, the record of what was typed on this machine. Whoever looks for what went wrong needs it, and no \
         task needs it gone.",
    ),
    Rule::ask(
        "secret-changed",
        Three,
        &[on(Kinds::CHANGE).at(Scopes::SECRET)],
        "Changes {place}, which holds keys, tokens or passwords; what is there now would be lost. Write to another file, \
         or let a person decide.",
    ),
    Rule::deny(
        "setuid",
        Three,
        &[on(Kinds::METADATA).what(&["setuid"])],
        "Makes {place} run with its owner's rights for whoever starts it. Nothing in a workspace needs that.",
    )
    .instead("chmod u+x FILE"),
    // What runs later, and the system.
    Rule::deny(
        "persistence-written",
        Three,
        &[on(Kinds::CHANGE).at(Scopes::PERSISTENCE)],
        "Changes {place}, which other programs execute or obey later: at login, at a time, on a commit, when an editor \
         opens. Show the change and let a person make it.",
    ),
    Rule::deny(
        "system-changed",
        Three,
        &[
            on(Kinds::CHANGE).at(Scopes::SYSTEM).and(|s| !is_root_entry(s)),
            on(Kinds::CHANGE).at(Scopes::SECRET).and(in_rest_of_system),
        ],
        "Changes {place}, a file of the system. Keep what is needed in the workspace, or let a person do it.",
    ),
    // Deletion.
    Rule::ask(
        "workspace-destroyed",
        Three,
        &[on(Kinds::DELETE).extent(Extent::Everything).covering(workspace).and(is_not_chosen)],
        "Deletes everything in the workspace. Name the files or the directory that are meant.",
    )
    .instead("git status --short --ignored"),
    Rule::ask(
        "history-deleted",
        Three,
        &[
            on(Kinds::DELETE).at(Scopes::REPOSITORY).and(is_no_lock),
            on(Kinds::DELETE).extent(Extent::Tree).covering(repository).and(is_somewhere),
        ],
        "Deletes version control data in {place}: commits that were not pushed are lost for ever.",
    ),
    Rule::ask(
        "repository-changed",
        Three,
        &[on(Kinds::WRITE.or(Kinds::METADATA)).at(Scopes::REPOSITORY)],
        "Writes into version control data at {place} past the version control program. Use its commands.",
    ),
    Rule::ask(
        "many-deleted",
        Three,
        &[on(Kinds::DELETE).at(Scopes::WORKSPACE).extent(Extent::Many).and(is_lost)],
        "Deletes {place}: more than single named files, and not a build product. Delete files by name.",
    )
    .instead("rm FILE…"),
    Rule::ask(
        "many-emptied",
        Three,
        &[on(Kinds::WRITE).what(&["truncate"]).at(Scopes::WORKSPACE).extent(Extent::Many)],
        "Empties {place}: more than single named files, and not a build product. Empty files by name.",
    )
    .instead("truncate -s 0 FILE"),
    Rule::ask(
        "unknown-deleted",
        Three,
        &[on(Kinds::DELETE).at(Scopes::UNKNOWN)],
        "Deletes {place}, by a name{from} that cannot be told from the command; it may be anything. Write the names out.",
    )
    .flow(LISTED)
    .instead("rm FILE…"),
    Rule::ask(
        "outside-deleted",
        Three,
        &[on(Kinds::DELETE).at(OUTSIDE).extent(Extent::Many)],
        "Deletes {place}, outside the workspace. Work on copies in the workspace, or let a person decide.",
    ),
    Rule::contain(
        "outside-file-deleted",
        Three,
        &[on(Kinds::DELETE).at(OUTSIDE)],
        "Deletes {place}, outside the workspace. Work on a copy in the workspace, or let a person decide.",
    ),
    Rule::contain(
        "temporary-deleted",
        Two,
        &[on(Kinds::DELETE).at(Scopes::TEMP).extent(Extent::Many).and(is_lost)],
        "Deletes {place}, where other programs keep files too. Delete files by name.",
    )
    .instead("rm FILE…"),
    // Mode and owner.
    Rule::contain(
        "opened-to-all",
        Two,
        &[on(Kinds::METADATA).what(&["world-writable"]).at(INSIDE.or(Scopes::TEMP))],
        "Lets every user of the machine write to {place}. Give the owner what is needed: `chmod u+rwx`.",
    )
    .instead("chmod u+rwX FILE"),
    Rule::contain(
        "owner-changed",
        Two,
        &[on(Kinds::METADATA).what(&["owner", "attributes"]).at(INSIDE.or(Scopes::TEMP))],
        "Changes who owns {place}, or makes it unchangeable. That is seldom needed and hard to undo without rights.",
    )
    .instead("chmod u+rw FILE"),
    Rule::contain(
        "outside-metadata",
        Two,
        &[on(Kinds::METADATA).at(OUTSIDE.or(Scopes::UNKNOWN))],
        "Changes mode, owner or times of {place}, outside the workspace or not known. Keep to files of the workspace.",
    ),
    // Writing.
    Rule::contain(
        "outside-written",
        Two,
        &[on(Kinds::WRITE).at(OUTSIDE), on(Kinds::WRITE).and(is_root_entry)],
        "Writes to {place}, outside the workspace. Write below the workspace or in a temporary directory.",
    )
    .instead("cp SOURCE ./COPY"),
    Rule::contain(
        "unknown-written",
        Two,
        &[on(Kinds::WRITE).at(Scopes::UNKNOWN)],
        "Writes to {place}; which file that is cannot be told from the command. Write the path out, below the workspace.",
    ),
    // Reading.
    Rule::contain(
        "unknown-read",
        One,
        &[on(Kinds::READ).at(Scopes::UNKNOWN)],
        "Reads {place}; which file that is cannot be told from the command, and it may hold secrets. Write the path out.",
    ),
];
