// Package depproxy serves package registries to places that have no network. It consists of four parts:
//   - the operator's registries, read from the settings of their clients (LoadClientSettings)
//   - a cache on disk in front of them (Open)
//   - a read-only http.Handler for all of them (Store.NewPolicyHandler)
//   - the Policy, which holds the allowed names
//
// Each kind of registry has its own protocol, client settings and order of versions. They belong to its ecosystem
// (ecosystem.Proxied and Client). depproxy asks the ecosystems and names no registry itself.
//
// A name that is not in the policy causes no request to the outside, and the refusal explains how to proceed.
// Credentials stay on this host and are sent only to the registry that they were configured for. Files at other
// addresses from a registry's metadata are fetched only by https and from public addresses. A file with a digest is
// served only after its digest is verified. An interrupted download leaves no usable file behind.
//
// A silent registry is given up after Upstreams.Patience, and later requests to it fail at once for a while. A cached
// file is compared with its digest once per process. If a registry is away, its last list is used. If it refuses
// (401, 403, 451), the request fails.
//
// depproxy runs a client only to read its settings, and never runs code of a package. The permission to add a name is
// decided elsewhere.
package depproxy
