//! Driver forwarders, devices; the only user of cust.
