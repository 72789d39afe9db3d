//! The standard streams of a command, as descriptors.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::OwnedFd;

use super::{Output, Stdin};
use crate::descriptor;
use crate::error::{SandboxError, Stage};

/// Standard input as a descriptor. Bytes become a sealed memory file: nobody has to feed a pipe, and a command that reads
/// nothing blocks nobody.
pub(super) fn input(stdin: Stdin) -> Result<OwnedFd, SandboxError> {
    let failed = |error: io::Error| {
        SandboxError::kernel(
            Stage::Resources,
            error.raw_os_error().unwrap_or(libc::EIO),
            "making standard input",
        )
    };
    let file = match stdin {
        Stdin::Null => File::open("/dev/null").map_err(failed)?,
        Stdin::Bytes(bytes) => {
            let mut file = descriptor::memory_file(c"stdin", libc::MFD_NOEXEC_SEAL).map_err(failed)?;
            file.write_all(&bytes)
                .and_then(|()| descriptor::seal(&file))
                .and_then(|()| file.rewind())
                .map_err(failed)?;
            file
        }
    };
    descriptor::above_standard(file.into())
}

/// The end to read from, if captured, and the end for the command.
pub(super) fn output(output: Output) -> Result<(Option<File>, OwnedFd), SandboxError> {
    match output {
        Output::Capture => descriptor::pipe().map(|(read, write)| (Some(read), write)),
        Output::Descriptor(fd) => Ok((None, descriptor::above_standard(fd)?)),
    }
}
