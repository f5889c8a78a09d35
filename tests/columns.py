"""Names of the columns, as documented in the guide."""

SUMMARY = """
protocol seed link utilisation queue_mean_packets queue_mean_percent queue_p90_packets
queue_p90_percent queue_max_packets queue_max_percent drop_rate mark_rate lost jain
goodput_mbps rtt_mean_ms data_packets packets events cpu_seconds
""".split()
FLOWS = """
protocol seed flow group start_s stop_s goodput_mbps data_packets retransmissions timeouts
rtt_mean_ms completion_s
""".split()
SERIES = "protocol seed time_s quantity entity value".split()
