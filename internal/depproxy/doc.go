// Package depproxy serves package registries (Go, npm, PyPI, crates, Debian)
// into places that have no network. It owns four things: the operator's own
// registries, read from the settings of their clients (LoadClientSettings); a
// cache on disk in front of them (Open); the registries' protocols as an
// http.Handler, read-only (Store.NewPolicyHandler); and the Policy, which holds
// the allowed names.
//
// It promises that a name which the policy does not hold causes no request to
// the outside, that the text of such a refusal says what to do, that
// credentials stay on this host and go to the registry that they were
// configured for only, that what a registry's metadata names elsewhere is
// fetched by https from public addresses only, that a file whose digest the
// protocol names is served whole and checked or not at all, and that a
// download which is cut off leaves nothing behind that counts.
//
// It runs no client of a registry and no code of a package. The permission to
// add a name is decided elsewhere.
package depproxy
