//! Senders against `vectors/senders`: one schema, described in `vectors/README.md`, for every law.

use knee_laws::codecs::{Feedback, Load};
use knee_laws::laws::Laws;
use knee_laws::params::{Kind, ParamInfo, Value};
use knee_laws::quantities::{BitRate, Bytes, Span, Time};
use knee_laws::registry::Sender;
use knee_laws::sender::{Ack, Congestion, Loss, Opening, RateSample, SenderLaw};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;

const COLUMNS: [&str; 26] = [
    "run",
    "event",
    "law",
    "parameters",
    "packet_bytes",
    "time_us",
    "newly_acked",
    "in_flight",
    "rtt_us",
    "smoothed_rtt_us",
    "min_rtt_us",
    "feedback",
    "feedback_value",
    "feedback_detail",
    "recovering",
    "app_limited",
    "delivered",
    "prior_delivered",
    "sample_us",
    "sample_app_limited",
    "newly_lost",
    "lost",
    "prior_in_flight",
    "window_packets",
    "pacing_bps",
    "tolerance",
];

/// Laws in double precision keep to this, whatever others are allowed.
const TOLERANCE: f64 = 1e-9;

/// A row, by column.
struct Row<'a>(Vec<&'a str>);

impl Row<'_> {
    fn text(&self, column: &str) -> &str {
        let place = COLUMNS.iter().position(|name| *name == column);
        self.0[place.unwrap_or_else(|| panic!("no column {column}"))]
    }

    /// `None` where the field is empty.
    fn get<T: FromStr>(&self, column: &str) -> Option<T> {
        let text = self.text(column);
        let value = || text.parse().unwrap_or_else(|_| panic!("{column} is {text}: {:?}", self.0));
        (!text.is_empty()).then(value)
    }

    fn need<T: FromStr>(&self, column: &str) -> T {
        self.get(column).unwrap_or_else(|| panic!("{column} is empty: {:?}", self.0))
    }

    fn flag(&self, column: &str) -> bool {
        self.need::<u8>(column) == 1
    }

    fn span(&self, column: &str) -> Span {
        Span::from_micros(self.need(column))
    }

    fn now(&self) -> Time {
        Time::ZERO + self.span("time_us")
    }

    fn feedback(&self) -> Feedback {
        let (value, detail) = ("feedback_value", "feedback_detail");
        match self.text("feedback") {
            "" => Feedback::None,
            "ecn" => Feedback::Ecn { congested: self.flag(value) },
            "load" => Feedback::Load(Load::from_bits(self.need(value))),
            "xcp" => Feedback::Xcp { delta_bytes: self.need(value) },
            "mlcp" => Feedback::Mlcp { code: self.need(value), interval: self.span(detail) },
            "adpm" => Feedback::Adpm { estimate: self.get(value), congested: self.flag(detail) },
            "rate" => Feedback::Rate { rate: self.need(value), interval: self.need(detail) },
            other => panic!("no feedback is called {other}"),
        }
    }

    fn sample(&self) -> Option<RateSample> {
        let (delivered, prior) = (self.get("delivered")?, self.need("prior_delivered"));
        let interval = self.span("sample_us");
        Some(RateSample {
            delivered,
            prior_delivered: prior,
            interval,
            rate: (delivered - prior) as f64 / interval.seconds(),
            app_limited: self.flag("sample_app_limited"),
            newly_lost: self.need("newly_lost"),
            lost: self.need("lost"),
            prior_in_flight: self.need("prior_in_flight"),
        })
    }

    /// The flow that a `start` opens.
    fn start(&self) -> Sender {
        let laws = Laws::shipped();
        let name = self.text("law");
        let preset = laws.preset(name).map(|preset| preset.sender);
        let (law, set) = preset.unwrap_or((name, &[]));
        let entry = laws.sender(law).unwrap_or_else(|| panic!("no law is called {law}"));
        let mut values: Vec<_> =
            set.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        for parameter in self.text("parameters").split_whitespace() {
            let (name, text) = parameter.split_once('=').expect("name=value");
            let info = entry.info.params.iter().find(|info| info.name == name);
            let info = info.unwrap_or_else(|| panic!("{law} has no {name}"));
            values.push((name.to_owned(), value(info, text)));
        }
        let opening = Opening::new(self.need("window_packets"), self.need("packet_bytes"));
        entry.build(&values, &opening).expect("parameters within their range")
    }

    /// Tells the law of the event.
    fn tell(&self, law: &mut Sender) {
        let congestion = |by| Loss { now: self.now(), in_flight: self.need("in_flight"), by };
        match self.text("event") {
            "ack" => law.on_ack(&Ack {
                now: self.now(),
                newly_acked: self.need("newly_acked"),
                in_flight: self.need("in_flight"),
                rtt: self.span("rtt_us"),
                smoothed_rtt: self.span("smoothed_rtt_us"),
                min_rtt: self.span("min_rtt_us"),
                feedback: self.feedback(),
                recovering: self.flag("recovering"),
                app_limited: self.flag("app_limited"),
                rate: self.sample(),
            }),
            "loss" => law.on_loss(&congestion(Congestion::Loss)),
            "mark" => law.on_loss(&congestion(Congestion::Mark)),
            "timeout" => law.on_timeout(&congestion(Congestion::Timeout)),
            "wake" => law.on_wake(self.now()),
            other => panic!("no event is called {other}"),
        }
    }

    /// Compares what the law answers.
    fn check(&self, law: &Sender) {
        let tolerance = self.need::<f64>("tolerance").min(TOLERANCE);
        let expect = |what: &str, answer: f64, expected: f64| {
            let close = (answer - expected).abs() <= tolerance * expected.abs();
            assert!(close, "{what} {answer}, not {expected}: {:?}", self.0);
        };
        expect("window", law.window(), self.need("window_packets"));
        let (rate, expected) = (law.pacing_rate().map(BitRate::bps), self.get("pacing_bps"));
        assert_eq!(rate.is_some(), expected.is_some(), "does it pace? {:?}", self.0);
        if let (Some(rate), Some(expected)) = (rate, expected) {
            expect("rate", rate, expected);
        }
    }
}

/// A parameter's value in its base unit, as it is written.
fn value(info: &ParamInfo, text: &str) -> Value {
    let number = || text.parse::<f64>().expect("a number");
    match &info.kind {
        Kind::Number => Value::Number(number()),
        Kind::Integer => Value::Integer(text.parse().expect("a whole number")),
        Kind::Flag => Value::Flag(text.parse().expect("true or false")),
        Kind::Duration => Value::Duration(Span::from_seconds(number())),
        Kind::Rate => Value::Rate(BitRate::from_bps(number())),
        Kind::Size => Value::Size(Bytes(text.parse().expect("bytes"))),
        Kind::Choice(words) => {
            Value::Choice(words.iter().find(|word| *word == text).expect("a word").clone())
        }
    }
}

/// Runs every flow of a file. Returns the laws that were held against at least one row.
fn run(path: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let mut lines = text.lines();
    assert_eq!(lines.next().map(|line| line.split(',').collect()), Some(COLUMNS.to_vec()));
    let mut laws = BTreeSet::new();
    let mut flow: Option<(String, String, Sender)> = None;
    for line in lines {
        let row = Row(line.split(',').collect());
        assert_eq!(row.0.len(), COLUMNS.len(), "{path:?}: {line}");
        let run = row.text("run");
        if row.text("event") == "start" {
            flow = Some((run.to_owned(), row.text("law").to_owned(), row.start()));
            continue;
        }
        let (open, name, law) = flow.as_mut().expect("a run begins with `start`");
        assert_eq!(open, run, "a run begins with `start`");
        row.tell(law);
        row.check(law);
        laws.insert(name.clone());
    }
    laws
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/senders");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    entries.map(|entry| entry.expect("a file").path()).collect()
}

#[test]
fn every_sender_answers_as_its_paper_says() {
    let checked: BTreeSet<_> = files().iter().flat_map(|path| run(path)).collect();
    for entry in &Laws::shipped().senders {
        let name = &entry.info.name;
        assert!(checked.contains(name), "no vectors of {name}: see vectors/README.md");
    }
}
