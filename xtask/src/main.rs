//! Project tasks, run as `cargo xtask TASK`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a task reports to whoever started it")]

mod acceptance;
mod batch;
mod bench;
mod corpus;
mod instructions;
mod oracle;
mod order;
mod plan;
mod progress;
mod score;
mod tidy;
mod tuned;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
usage: cargo xtask TASK; cargo xtask TASK --help tells of one

  tidy                      hold the rules that the compiler does not
  score DIR [OPTION]…       judge the labelled commands of a corpus directory
      --contained           only as if shward ran them (default: both ways)
      --binary FILE         this shward (default: a release build)
      --home DIR            home of the sources that say nothing else (default: /home/dev)
      --misses FILE         write each wrong judgement, one JSON object per line
      --json FILE           write the scores, for a later --diff
      --page FILE           write the scores as a page in Markdown
      --diff FILE           show what changed since the scores in FILE
  acceptance DIR [OPTION]…  compare what is parsed with `bash -n`
      --binary FILE         this shward (default: a release build)
      --json FILE           write each difference, one JSON object per line
  bench [OPTION]…           whole processes beside others, and how the cost of a verdict grows
      --binary FILE         this shward (default: a release build)
      --rounds N            runs of each process (default: 200)
      --json FILE           write the figures
      --svg DIR             write the curves as charts
  instructions [OPTION]…    count the instructions of verdicts, which must keep within the budget
      --binary FILE         this shward (default: target/debug/shward, as the tests build it)
      --write               make what is counted the budget
  order --binary FILE       have the linker put first what runs at every start, as this shward with symbols does
  profile [OPTION]…         count what runs most, for builds with `cargo tuned` and `cargo static`
      --corpus DIR          commands besides the project's own; may be repeated
      --llvm-profdata FILE  the program that makes a profile of counts (default: the one beside the compiler)
  tuned -- ARGUMENT…        Cargo with these arguments, the compiler told what runs most (also `cargo tuned ARGUMENT…`)
  oracle -- COMMAND         run a command in a closed room; what it did beside what was predicted
  oracle [OPTION]…          the same for many, which must do nothing that was not predicted
      --corpus FILE         the commands of a file, but those labelled dangerous; may be repeated
      --generate N          commands 0 to N of a seed
      --pairs               every pair of pieces of one theme in corpus/oracle/pairs.txt and fragments.txt; the seed says what
                            looks at them and what stands around
      --contexts            every piece of corpus/oracle/contexts.txt in everything that stands around pieces there; with a
                            seed other than 0 behind another piece
      --places              every value of corpus/oracle/places.txt in every place that takes one, every expression likewise
      --tasks               every way to come by a name in corpus/oracle/tasks.txt before everything that is done with one, and
                            every path of a Python program before every step of one; the seed says what stands before
      --programs            the options of every described program that is installed, which are all real then; what their
                            words (corpus/oracle/programs.txt) lead to must be predicted
      --seed S, --from K    which seed (default: 0), and to begin with command K of it
      --shell SHELL         bash (default), or dash, busybox or zsh started by it
      --jobs N              rooms at a time (default: one per processor)
      --record FILE         write all that was observed, one JSON object per run
      --violations FILE     write what was not predicted, one JSON object per run
      --json                the result as JSON
      --binary FILE         this shward (default: a release build)
";

/// Why a task ended early, told to a person.
type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [part] = arguments.as_slice()
        && let Some(code) = oracle::part(part)
    {
        return code;
    }
    match run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[String]) -> Result<ExitCode, Failure> {
    let root = root();
    if let [task, rest @ ..] = arguments
        && rest.iter().take_while(|word| *word != "--").any(|word| word == "--help" || word == "-h")
        && let Some(help) = help_of(task)
    {
        print!("usage: cargo xtask {help}");
        return Ok(ExitCode::SUCCESS);
    }
    match arguments.split_first() {
        Some((task, [])) if task == "tidy" => tidy::run(&root),
        Some((task, rest)) if task == "score" => score::run(&root, rest),
        Some((task, rest)) if task == "bench" => bench::run(&root, rest),
        Some((task, rest)) if task == "instructions" => instructions::run(&root, rest),
        Some((task, rest)) if task == "order" => order::run(&root, rest),
        Some((task, rest)) if task == "profile" => tuned::profile(&root, rest),
        Some((task, rest)) if task == "tuned" => tuned::run(&root, rest),
        Some((task, rest)) if task == "acceptance" => acceptance::run(&root, rest),
        Some((task, rest)) if task == "oracle" => oracle::run(&root, rest),
        Some((task, _)) if task == "help" || task == "--help" => {
            print!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            eprint!("{HELP}");
            Ok(ExitCode::from(64))
        }
    }
}

/// What the help says of one task: its lines, and those below them that are indented further.
fn help_of(task: &str) -> Option<String> {
    let mut help = String::new();
    let mut within = false;
    for line in HELP.lines().filter_map(|line| line.strip_prefix("  ")) {
        if !line.starts_with(' ') {
            within = line.split(' ').next() == Some(task);
        }
        if within {
            help.push_str(line);
            help.push('\n');
        }
    }
    (!help.is_empty()).then_some(help)
}

/// The repository: where this package's directory is.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_has_its_part_of_the_help() {
        for task in
            ["tidy", "score", "acceptance", "bench", "instructions", "order", "profile", "tuned", "oracle"]
        {
            let help = help_of(task).unwrap();
            assert!(
                help.lines().all(|line| line.starts_with([' ', '\t']) || line.starts_with(task)),
                "{help}"
            );
        }
        let score = help_of("score").unwrap();
        assert!(score.contains("--misses FILE") && !score.contains("--svg"), "{score}");
        let oracle = help_of("oracle").unwrap();
        assert!(oracle.contains("oracle -- COMMAND") && oracle.contains("--violations"), "{oracle}");
        assert_eq!(help_of("bake"), None);
    }
}
