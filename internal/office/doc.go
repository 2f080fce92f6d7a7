// Package office is where a company lives: its folder, its config and its
// lock.
//
// It owns
//   - company.yaml (Config, Load): one strict schema for file, environment and
//     flags, every error with its place, what was found, what is allowed, and
//     the nearest key; where each value comes from; what of a config that git
//     tracks counts only once the president trusts it;
//   - the paths of an office (Paths, Find, Open), all absolute and free of
//     symbolic links, and the refusal of state that a repository brought
//     along;
//   - the office lock and the socket behind it: one process holds an office;
//   - what a doctor check is (Check). Each room brings its own.
//
// It promises that a Config it returned has passed validation, and that
// nothing in it came from an untrusted file. It does not talk to the network,
// to Docker or to a model, and it keeps no secret: the config names the
// variables that hold keys.
package office
