//! Saturated stations of a wireless LAN.

use knee_laws::quantities::{BitRate, Span, Time};
use knee_laws::registry::Sender;
use knee_laws::sender::{Ack, Loss, SenderLaw};
use knee_sim::Simulation;
use knee_sim::config::*;
use knee_sim::report::Report;

/// A sender with a constant window, which keeps the channel saturated.
pub struct Greedy(pub f64);

impl SenderLaw for Greedy {
    fn on_ack(&mut self, _: &Ack) {}
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Loss) {}
    fn window(&self) -> f64 {
        self.0
    }
}

/// Saturated uploads. ACKs return by wire, so that they do not use the channel.
pub struct Uploads {
    pub phy: Phy,
    pub stations: u32,
    pub mbps: f64,
    pub bytes: u16,
    pub errors: f64,
    pub seconds: u64,
    pub seed: u64,
}

impl Uploads {
    /// The network; link 2 n is station n's.
    pub fn config(&self) -> NetworkConfig {
        let rate = BitRate::from_mbps(self.mbps);
        let wire = || LinkConfig::plain("", BitRate::from_mbps(1e5), Span::from_micros(1));
        let end = Time::ZERO + Span::from_secs(self.seconds);
        let mut config = NetworkConfig {
            seed: self.seed,
            links: vec![],
            groups: vec![Group {
                name: "uploads".to_owned(),
                transport: Transport { data_bytes: self.bytes, ..Transport::default() },
            }],
            flows: vec![],
            aggregates: vec![],
            media: vec![],
            sources: vec![],
            probes: vec![],
            warmup: Time::ZERO + Span::from_secs(2),
            end,
        };
        let mut stations = vec![];
        for number in 0..self.stations {
            let link = LinkId(config.links.len() as u32);
            let name = format!("station-{number:02}");
            config.links.push(LinkConfig {
                buffer: Buffer::Packets(64),
                measured: true,
                ..LinkConfig::plain(&name, rate, Span::ZERO)
            });
            config.links.push(wire());
            stations.push(StationConfig {
                name,
                queues: vec![StationQueue { link, peer: StationPeer::Own }],
                rate,
                errors: (self.errors > 0.0)
                    .then_some(RandomLoss::Bernoulli { probability: self.errors }),
                survey: None,
                entry: None,
            });
            config.flows.push(FlowConfig {
                group: GroupId(0),
                law: Sender::Custom(Box::new(Greedy(20.0))),
                route: Route { forward: vec![link], backward: vec![LinkId(link.0 + 1)] },
                start: Time::ZERO,
                stop: None,
                packets: None,
            });
        }
        let name = "channel".to_owned();
        config.media.push(MediumConfig { name, phy: self.phy.clone(), stations });
        config
    }

    /// Runs the network. Returns its report.
    pub fn run(&self) -> Report {
        let mut simulation = Simulation::new(self.config());
        simulation.run_until(Time::ZERO + Span::from_secs(self.seconds)).expect("no law fails");
        simulation.finish()
    }
}
