//! A dumbbell for tests: access 1 ms, bottleneck 38 ms, access 1 ms each way, access ten times faster.
#![allow(dead_code)]

pub mod wlan;

use knee_laws::codecs::Codec;
use knee_laws::laws::Laws;
use knee_laws::quantities::{BitRate, Span, Time};
use knee_laws::registry::Sender;
use knee_laws::router::LinkView;
use knee_laws::sender::Opening;
use knee_sim::config::*;

/// The options of a test.
#[derive(Clone, Copy)]
pub struct Dumbbell {
    pub sender: &'static str,
    pub router: &'static str,
    pub mbps: f64,
    pub forward: u32,
    pub reverse: u32,
    pub buffer: Buffer,
    pub seconds: u64,
    pub warmup: u64,
    pub initial_window: f64,
    pub packets: Option<u64>,
    pub ecn: bool,
}

impl Default for Dumbbell {
    fn default() -> Self {
        Self {
            sender: "sack",
            router: "droptail",
            mbps: 150.0,
            forward: 30,
            reverse: 30,
            buffer: Buffer::Packets(1500),
            seconds: 60,
            warmup: 10,
            initial_window: 10.0,
            packets: None,
            ecn: false,
        }
    }
}

impl Dumbbell {
    pub fn link(&self, name: String, rate: f64, delay: Span) -> LinkConfig {
        LinkConfig::plain(&name, BitRate::from_mbps(rate), delay)
    }

    fn view(&self, buffer: Buffer) -> LinkView {
        LinkView {
            rate: BitRate::from_mbps(self.mbps),
            delay_s: 0.038,
            buffer: buffer.room(1000),
            packet_bytes: 1000,
        }
    }

    fn bottleneck(&self, name: &str) -> LinkConfig {
        let law = Laws::shipped().router(self.router).expect("a law");
        LinkConfig {
            buffer: self.buffer,
            router: law.build(&[], &self.view(self.buffer)).expect("its defaults"),
            needs: law.info.needs,
            measured: true,
            ..self.link(name.to_owned(), self.mbps, Span::from_millis(38))
        }
    }

    /// The network, without probes. Links 0 and 1 are the bottleneck's two directions.
    pub fn config(&self, seed: u64) -> NetworkConfig {
        let mut links = vec![self.bottleneck("bottleneck"), self.bottleneck("reverse")];
        let info = &Laws::shipped().sender(self.sender).expect("a law").info;
        let opening = Opening::new(self.initial_window, 1000);
        let mut stream = knee_sim::Stream::new(seed, "starts");
        let mut flows = vec![];
        for flow in 0..self.forward + self.reverse {
            let mut access = |end: &str| {
                let name = format!("{end}-{flow}");
                links.push(self.link(name, 10.0 * self.mbps, Span::from_millis(1)));
                LinkId(links.len() as u32 - 1)
            };
            let [out, far, back, near] = ["out", "far", "back", "near"].map(&mut access);
            let (there, home) = if flow < self.forward { (0, 1) } else { (1, 0) };
            use knee_laws::router::Draw;
            flows.push(FlowConfig {
                group: GroupId(0),
                law: Sender::build(self.sender, &[], &opening).expect("a law"),
                route: Route {
                    forward: vec![out, LinkId(there), far],
                    backward: vec![back, LinkId(home), near],
                },
                start: Time::ZERO + Span::from_seconds(stream.uniform()),
                stop: None,
                packets: self.packets,
            });
        }
        let transport = Transport {
            recovery: info.recovery,
            initial_window: self.initial_window,
            codec: if info.codec == Codec::Ecn && !self.ecn { Codec::None } else { info.codec },
            ..Transport::default()
        };
        NetworkConfig {
            seed,
            links,
            groups: vec![Group { name: "flows".to_owned(), transport }],
            flows,
            aggregates: vec![],
            media: vec![],
            sources: vec![],
            probes: vec![],
            warmup: Time::ZERO + Span::from_secs(self.warmup),
            end: Time::ZERO + Span::from_secs(self.seconds),
        }
    }

    /// The same network as an island of `router`s that all flows cross over one aggregate of `carrier` each
    /// way: links `ingress` and `ingress-reverse`, the last two, with these buffers.
    pub fn island(&self, seed: u64, carrier: &str, ingress: Buffer) -> NetworkConfig {
        let mut config = self.config(seed);
        let info = &Laws::shipped().sender(carrier).expect("a law").info;
        let opening = Opening::new(self.initial_window, 1000);
        let transport = config.groups[0].transport;
        let transport = Transport { recovery: info.recovery, codec: info.codec, ..transport };
        config.groups.push(Group { name: "carriers".to_owned(), transport });
        let first = config.links.len() as u32;
        for (index, name) in [(0, "ingress"), (1, "ingress-reverse")] {
            let link = self.link(name.to_owned(), self.mbps, Span::from_millis(38));
            config.links.push(LinkConfig { buffer: ingress, measured: true, ..link });
            config.aggregates.push(AggregateConfig {
                link: LinkId(first + index),
                overhead: 0,
                flow: FlowConfig {
                    group: GroupId(1),
                    law: Sender::build(carrier, &[], &opening).expect("a law"),
                    route: Route {
                        forward: vec![LinkId(index)],
                        backward: vec![LinkId(1 - index)],
                    },
                    start: Time::ZERO,
                    stop: None,
                    packets: None,
                },
            });
        }
        for flow in &mut config.flows {
            for link in flow.route.forward.iter_mut().chain(&mut flow.route.backward) {
                if link.0 < 2 {
                    link.0 += first;
                }
            }
        }
        config
    }

    /// Runs the network. Returns its report.
    pub fn run(&self, seed: u64) -> knee_sim::report::Report {
        let mut simulation = knee_sim::Simulation::new(self.config(seed));
        simulation.run_until(Time::ZERO + Span::from_secs(self.seconds)).expect("no law fails");
        simulation.report()
    }
}
