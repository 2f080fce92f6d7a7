// Package office is where a company lives: its folder, its identity, its lock
// and its socket.
//
// It owns
//   - the paths of an office (Paths, Find, Open), all absolute and free of
//     symbolic links, and the refusal of state that a repository brought
//     along;
//   - the lines of .git/info/exclude that keep an office out of git;
//   - the office lock and the socket behind it: one process holds an office.
//
// It promises that no file of an office is reached through a link, and that a
// folder which git tracks is never taken for an office's own. It does not talk
// to the network, to Docker or to a model, and it reads no config beyond where
// the readable files lie.
package office
