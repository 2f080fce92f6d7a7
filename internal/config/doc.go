// Package config reads company.yaml: one strict schema for file, environment
// and flags.
//
// It owns
//   - the schema (Config, Schema) and the draft of a first file (ConfigDraft);
//   - reading (Load): every error with its place, the value that was found,
//     the allowed values, and the nearest key; where each value comes from;
//   - trust (Trust, ReviewTrust): what of a company.yaml counts only once the
//     president trusts it.
//
// It promises that a Config it returned has passed validation, and that
// nothing in it came from an untrusted file. It does not talk to the network,
// to Docker or to a model, and it keeps no secret: the config names the
// variables that hold keys.
package config
