// Package depproxy serves package registries into places that have no network.
// It owns four things: the operator's own registries, read from the settings of
// their clients (LoadClientSettings); a cache on disk in front of them (Open); an
// http.Handler of them all, read-only (Store.NewPolicyHandler); and the Policy,
// which holds the allowed names. What one kind of registry is like, its protocol,
// its client's settings and the order of its versions, is the ecosystem's to know
// (ecosystem.Proxied and Client): depproxy asks those of the registry and names
// none.
//
// It promises that a name which the policy does not hold causes no request to
// the outside, that the text of such a refusal says what to do, that
// credentials stay on this host and go to the registry that they were
// configured for only, that what a registry's metadata names elsewhere is
// fetched by https from public addresses only, that a file whose digest the
// protocol names is served whole and checked or not at all, and that a
// download which is cut off leaves nothing behind that counts. A registry that is
// silent is given up after Upstreams.Patience, and is not waited for again at once.
//
// It runs a client only to ask for its settings, and no code of a package. The permission to
// add a name is decided elsewhere.
package depproxy
