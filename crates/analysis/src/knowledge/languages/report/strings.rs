//! Strings that name a place.

use super::super::super::values;

/// Schemes of addresses that lead elsewhere.
const SCHEMES: [&[u8]; 32] = [
    b"amqp",
    b"amqps",
    b"cassandra",
    b"clickhouse",
    b"cockroachdb",
    b"ftp",
    b"ftps",
    b"git",
    b"gs",
    b"http",
    b"https",
    b"ldap",
    b"ldaps",
    b"mariadb",
    b"mongodb",
    b"mqtt",
    b"mssql",
    b"mysql",
    b"nats",
    b"oracle",
    b"postgres",
    b"postgresql",
    b"redis",
    b"rediss",
    b"rtmp",
    b"rtsp",
    b"s3",
    b"sftp",
    b"ssh",
    b"tcp",
    b"ws",
    b"wss",
];

/// Whether a string begins as a URL that leads elsewhere.
pub(in super::super) fn is_url(text: &[u8]) -> bool {
    let length =
        text.iter().take(24).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'+').count();
    let Some((scheme, rest)) = text.split_at_checked(length) else { return false };
    if !rest.starts_with(b"://") {
        return false;
    }
    // `postgresql+psycopg2`, `mongodb+srv`: by whom, or how, it is reached.
    let scheme = scheme.split(|byte| *byte == b'+').next().unwrap_or_default();
    SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme))
}

/// Whether a string is written as a path that leads out of the working directory, or is known by its name.
pub(in super::super) fn looks_like_path(text: &[u8]) -> bool {
    if text.is_empty() || text.len() > 512 {
        return false;
    }
    // Most have no slash in them.
    let named = matches!(text, [b'.', ..] | [b'i', b'd', b'_', ..]);
    if !named && !text.contains(&b'/') || text.iter().any(|b| b.is_ascii_control()) {
        return false;
    }
    let rooted = match text {
        [b'/', next, ..] => !next.is_ascii_whitespace() && *next != b'/',
        [b'~', b'/', ..] => true,
        _ => text.starts_with(b"../") || text.windows(4).any(|w| w == b"/../"),
    };
    if text.contains(&b' ') {
        return false;
    }
    let name = values::base_name(text);
    rooted || (name.starts_with(b".") && name.len() > 2) || name.starts_with(b"id_") || text.contains(&b'/')
}
