//! The directories of the root.
//!
//! Sources: file-hierarchy(7), hier(7), proc(5), kernel documentation `admin-guide/sysrq`, sudoers(5), ld.so(8), pam.d(5),
//! systemd.unit(5), crontab(5), udev(7), apt.conf(5), XDG Autostart Specification 0.5.

use super::index::{Table, table};
use crate::effect::Scope::{
    self, Device, Elsewhere, Environment, Harmless, Home, Own, Persistence, Secret, System, Temp, Unknown,
};

/// A directory of the root.
#[derive(Debug)]
pub(in crate::place) struct Top {
    /// Its name.
    pub(in crate::place) name: &'static str,
    /// What lies below it, unless a row says otherwise.
    pub(in crate::place) base: Scope,
    /// How many names follow before a home directory is reached, if it holds home directories.
    pub(in crate::place) home_after: Option<usize>,
    /// What matters below it.
    pub(in crate::place) rows: Table,
}

const fn top(name: &'static str, base: Scope, rows: Table) -> Top {
    Top { name, base, home_after: None, rows }
}

const fn homes(name: &'static str, after: usize) -> Top {
    Top { name, base: Home, home_after: Some(after), rows: NOTHING }
}

const NOTHING: Table = table!(&[]);

/// The directories of the root, sorted by name. What is not listed is elsewhere.
pub(in crate::place) const ROOT: &[Top] = &[
    top("Applications", System, NOTHING),
    top("Library", System, LIBRARY),
    top("System", System, NOTHING),
    homes("Users", 1),
    top("bin", System, NOTHING),
    top("boot", System, NOTHING),
    top("dev", Device, DEV),
    top("etc", System, ETC),
    homes("home", 1),
    top("lib", System, LIB),
    top("lib32", System, NOTHING),
    top("lib64", System, NOTHING),
    top("libx32", System, NOTHING),
    top("media", Elsewhere, NOTHING),
    top("mnt", Elsewhere, NOTHING),
    top("nix", System, NOTHING),
    top("opt", System, NOTHING),
    top("proc", System, PROC),
    homes("root", 0),
    top("run", System, RUN),
    top("sbin", System, NOTHING),
    top("snap", System, NOTHING),
    top("srv", System, NOTHING),
    top("sys", Device, NOTHING),
    top("tmp", Temp, NOTHING),
    top("usr", System, USR),
    top("var", System, VAR),
];

/// Top directories that may be a workspace themselves although their content is the system's.
pub(in crate::place) const WORKSPACE_TOPS: &[&str] = &["opt", "srv"];

const LIBRARY: Table = table!(&[
    ("LaunchAgents/**", Persistence),
    ("LaunchDaemons/**", Persistence),
    ("Application Support/ClaudeCode/**", Own),
    ("Application Support/shward/**", Own),
    ("Keychains/**", Secret),
]);

const DEV: Table = table!(&[
    ("null", Harmless),
    ("zero", Harmless),
    ("full", Harmless),
    ("random", Harmless),
    ("urandom", Harmless),
    ("stdin", Harmless),
    ("stdout", Harmless),
    ("stderr", Harmless),
    ("tty", Harmless),
    ("ptmx", Harmless),
    // Below one of them lies what is in a directory that is open.
    ("fd", Harmless),
    ("fd/*", Harmless),
    ("shm/**", Temp),
    ("mqueue/**", Temp),
]);

const PROC: Table = table!(&[
    ("self/fd/*", Harmless),
    ("self/fdinfo/*", Harmless),
    ("thread-self/fd/*", Harmless),
    ("kcore", Environment),
    ("vmcore", Environment),
    ("*/environ", Environment),
    ("*/mem", Environment),
    ("*/auxv", Environment),
    ("*/stack", Environment),
    ("*/fd/**", Environment),
    ("*/map_files/**", Environment),
    ("*/task/*/environ", Environment),
    ("*/task/*/mem", Environment),
    ("*/task/*/fd/**", Environment),
    ("*/cwd/**", Unknown),
    ("*/task/*/cwd/**", Unknown),
    ("sys/**", Device),
    ("sysrq-trigger", Device),
]);

const ETC: Table = table!(&[
    // Passwords and keys.
    ("shadow", Secret),
    ("shadow-", Secret),
    ("gshadow", Secret),
    ("gshadow-", Secret),
    ("master.passwd", Secret),
    ("security/opasswd", Secret),
    ("ssh/ssh_host_*_key", Secret),
    ("ssh/*.pub", System),
    ("ssl/private/**", Secret),
    ("pki/tls/private/**", Secret),
    ("letsencrypt/archive/**", Secret),
    ("letsencrypt/live/**", Secret),
    ("letsencrypt/accounts/**", Secret),
    ("krb5.keytab", Secret),
    ("ipsec.secrets", Secret),
    ("ipsec.d/private/**", Secret),
    ("ppp/chap-secrets", Secret),
    ("ppp/pap-secrets", Secret),
    ("wireguard/**", Secret),
    ("openvpn/*.key", Secret),
    ("openvpn/*/*.key", Secret),
    ("NetworkManager/system-connections/**", Secret),
    ("wpa_supplicant/**", Secret),
    ("iwd/**", Secret),
    ("kubernetes/admin.conf", Secret),
    ("kubernetes/super-admin.conf", Secret),
    ("kubernetes/pki/**", Secret),
    ("rancher/k3s/k3s.yaml", Secret),
    ("mysql/debian.cnf", Secret),
    ("rndc.key", Secret),
    ("bind/rndc.key", Secret),
    ("credstore/**", Secret),
    ("credstore.encrypted/**", Secret),
    ("docker/key.json", Secret),
    // The firewall and the agents that it guards.
    ("shward/**", Own),
    ("claude-code/**", Own),
    ("codex/**", Own),
    ("cursor/**", Own),
    ("gemini-cli/**", Own),
    ("windsurf/**", Own),
    ("opencode/**", Own),
    // What runs at start-up, at login, at a time, or on an event.
    ("profile", Persistence),
    ("profile.d/**", Persistence),
    ("bash.bashrc", Persistence),
    ("bash.bash_logout", Persistence),
    ("bashrc", Persistence),
    ("bash_completion.d/**", Persistence),
    ("csh.*", Persistence),
    ("zsh/**", Persistence),
    ("zshrc", Persistence),
    ("zshenv", Persistence),
    ("zprofile", Persistence),
    ("fish/**", Persistence),
    ("environment", Persistence),
    ("environment.d/**", Persistence),
    ("inputrc", Persistence),
    ("skel/**", Persistence),
    ("cron*/**", Persistence),
    ("cron.allow", Persistence),
    ("anacrontab", Persistence),
    ("at.allow", Persistence),
    ("at.deny", Persistence),
    ("systemd/**", Persistence),
    ("init/**", Persistence),
    ("init.d/**", Persistence),
    ("inittab", Persistence),
    ("rc.local", Persistence),
    ("rc.d/**", Persistence),
    ("rc*.d/**", Persistence),
    ("rc.conf", Persistence),
    ("runit/**", Persistence),
    ("sv/**", Persistence),
    ("xinetd.d/**", Persistence),
    ("inetd.conf", Persistence),
    ("udev/**", Persistence),
    ("modprobe.d/**", Persistence),
    ("modules", Persistence),
    ("modules-load.d/**", Persistence),
    ("binfmt.d/**", Persistence),
    ("tmpfiles.d/**", Persistence),
    ("sysctl.conf", Persistence),
    ("sysctl.d/**", Persistence),
    ("ld.so.preload", Persistence),
    ("ld.so.conf", Persistence),
    ("ld.so.conf.d/**", Persistence),
    ("xdg/autostart/**", Persistence),
    ("X11/Xsession.d/**", Persistence),
    ("X11/xinit/**", Persistence),
    ("update-motd.d/**", Persistence),
    ("apt/apt.conf", Persistence),
    ("apt/apt.conf.d/**", Persistence),
    ("dpkg/dpkg.cfg.d/**", Persistence),
    ("yum/**", Persistence),
    ("dnf/**", Persistence),
    ("NetworkManager/dispatcher.d/**", Persistence),
    ("network/if-*.d/**", Persistence),
    ("networkd-dispatcher/**", Persistence),
    ("dhcp/**", Persistence),
    ("logrotate.d/**", Persistence),
    ("logrotate.conf", Persistence),
    ("acpi/**", Persistence),
    ("pm/**", Persistence),
    ("kernel/**", Persistence),
    ("initramfs-tools/**", Persistence),
    ("default/grub", Persistence),
    ("grub.d/**", Persistence),
    ("pip.conf", Persistence),
    ("gitconfig", Persistence),
    ("fail2ban/**", Persistence),
    // Who may do what.
    ("passwd", Persistence),
    ("passwd-", Persistence),
    ("group", Persistence),
    ("group-", Persistence),
    ("subuid", Persistence),
    ("subgid", Persistence),
    ("sudoers", Persistence),
    ("sudoers.d/**", Persistence),
    ("doas.conf", Persistence),
    ("pam.d/**", Persistence),
    ("pam.conf", Persistence),
    ("security/**", Persistence),
    ("polkit-1/**", Persistence),
    ("dbus-1/**", Persistence),
    ("ssh/**", Persistence),
    ("nsswitch.conf", Persistence),
]);

/// `/lib` and `/usr/lib`.
const LIB: Table = table!(&[
    ("systemd/**", Persistence),
    ("udev/**", Persistence),
    ("modprobe.d/**", Persistence),
    ("modules-load.d/**", Persistence),
    ("tmpfiles.d/**", Persistence),
    ("binfmt.d/**", Persistence),
    ("sysctl.d/**", Persistence),
    ("security/**", Persistence),
]);

const USR: Table = table!(&[
    ("lib/systemd/**", Persistence),
    ("lib/udev/**", Persistence),
    ("lib/modprobe.d/**", Persistence),
    ("lib/modules-load.d/**", Persistence),
    ("lib/tmpfiles.d/**", Persistence),
    ("lib/binfmt.d/**", Persistence),
    ("lib/sysctl.d/**", Persistence),
    ("share/polkit-1/**", Persistence),
    ("share/dbus-1/**", Persistence),
    ("local/lib/systemd/**", Persistence),
    ("local/etc/rc.d/**", Persistence),
    ("local/etc/sudoers", Persistence),
    ("local/etc/sudoers.d/**", Persistence),
    ("bin/shward", Own),
    ("local/bin/shward", Own),
]);

const RUN: Table = table!(&[
    ("secrets/**", Secret),
    ("credentials/**", Secret),
    ("shward/**", Own),
    ("user/*/shward/**", Own),
    ("user/*/gnupg/**", Secret),
    ("user/*/keyring/**", Secret),
    ("user/*/systemd/**", Persistence),
    ("systemd/system/**", Persistence),
    ("systemd/generator*/**", Persistence),
    ("systemd/user/**", Persistence),
    ("udev/**", Persistence),
    // Who may write here is root.
    ("docker.sock", Device),
    ("podman/podman.sock", Device),
    ("containerd/containerd.sock", Device),
    ("crio/crio.sock", Device),
    ("dbus/system_bus_socket", Device),
    ("systemd/private", Device),
    ("lock/**", Temp),
]);

const VAR: Table = table!(&[
    ("tmp/**", Temp),
    ("folders/**", Temp),
    ("spool/cron/**", Persistence),
    ("spool/at/**", Persistence),
    ("spool/atjobs/**", Persistence),
    ("spool/incron/**", Persistence),
    ("at/**", Persistence),
    ("backups/shadow.bak", Secret),
    ("backups/gshadow.bak", Secret),
    ("db/shadow/**", Secret),
    ("db/dslocal/**", Secret),
    ("lib/pam/**", Secret),
    ("lib/sss/secrets/**", Secret),
    ("lib/kubelet/**", Secret),
    ("lib/rancher/k3s/server/**", Secret),
    ("lib/systemd/credential.secret", Secret),
    ("lib/cloud/instance/user-data.txt*", Secret),
    ("lib/NetworkManager/secret_key", Secret),
    ("lib/samba/private/**", Secret),
    ("lib/krb5kdc/**", Secret),
    ("lib/shward/**", Own),
    ("log/shward/**", Own),
]);
