//! Writes the filter of system calls of a run without a network to standard output, as the kernel takes it: what bubblewrap's
//! `--seccomp` reads.

use std::error::Error;
use std::io::Write as _;

fn main() -> Result<(), Box<dyn Error>> {
    let plan = shward_sandbox::Confinement::new("/bin/true", "/").prepare()?;
    let filter = plan.filter().ok_or("there is no filter")?;
    std::io::stdout().write_all(&filter)?;
    Ok(())
}
