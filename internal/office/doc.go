// Package office manages the home of a company: its folder, its identity, its lock and its socket.
//
// It finds the paths of an office (Paths, Find, Open), all absolute and free of symbolic links, and refuses state that
// came with a repository. It writes the lines of .git/info/exclude that hide an office from git. It provides the
// office lock and the socket behind it, so that only one process holds an office.
//
// No file of an office is accessed through a link, and a folder that git tracks never counts as an office's own. The
// package does not use the network, Docker or models. Of the config it only reads where the readable files are.
package office
