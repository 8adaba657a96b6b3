//! The `console` blocks of a text.

/// One block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The line of its fence, from 1.
    pub line: usize,
    /// What has to be there for it; empty for nothing.
    pub needs: String,
    pub steps: Vec<Step>,
}

/// One command, and what is to come of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub line: usize,
    pub command: String,
    pub printed: String,
    pub code: i32,
}

/// All `console` blocks.
///
/// # Panics
/// If a block is not closed, or begins with something else than a command.
pub fn blocks(text: &str) -> Vec<Block> {
    let (mut found, mut open): (Vec<Block>, Option<Block>) = (Vec::new(), None);
    let mut is_other = false;
    for (line, text) in (1..).zip(text.lines()) {
        match (text.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some(_), None) if is_other => is_other = false,
            (Some(info), None) => {
                let mut words = info.split(' ');
                is_other = words.next() != Some("console");
                let needs = words.filter(|word| *word != "needs").collect::<Vec<_>>().join(" ");
                open = (!is_other).then(|| Block { line, needs, steps: Vec::new() });
            }
            (None, Some(block)) => match (text.strip_prefix("$ "), block.steps.last_mut()) {
                (Some(command), _) => block.steps.push(step(line, command)),
                (None, Some(step)) => step.printed.push_str(&format!("{text}\n")),
                (None, None) => panic!("line {line}: a block begins with `$ COMMAND`"),
            },
            (None, None) => (),
        }
    }
    assert!(open.is_none(), "a block is not closed");
    found
}

fn step(line: usize, command: &str) -> Step {
    let code = command.rsplit_once("# exit code ").map(|(_, code)| code.trim().parse().expect("an exit code"));
    Step { line, command: command.to_owned(), printed: String::new(), code: code.unwrap_or(0) }
}

#[test]
fn commands_what_they_print_and_how_they_end_are_read() {
    let text = "a\n```sh\n$ not this\n```\n```console\n$ one\nout\n\n$ two   # exit code 2\n```\nb\n```console needs etcd\n$ three &\n```\n";
    let step = |line, command: &str, printed: &str, code| Step {
        line,
        command: command.to_owned(),
        printed: printed.to_owned(),
        code,
    };
    let first = vec![step(6, "one", "out\n\n", 0), step(9, "two   # exit code 2", "", 2)];
    let found = blocks(text);
    assert_eq!(found[0], Block { line: 5, needs: String::new(), steps: first });
    assert_eq!(found[1], Block { line: 12, needs: "etcd".into(), steps: vec![step(13, "three &", "", 0)] });
    assert_eq!(found.len(), 2);
}
