// Package office manages the home of a company: its folders, its identity, its lock and its socket.
//
// It finds the paths of an office (Paths, Find, Open), all absolute and free of symbolic links. The state is in the
// user's home; the checkout has files for people and a pointer (home.go). It provides the office lock and the socket
// behind it, so that only one process holds an office.
//
// No file of an office is accessed through a link. The package does not use the network, Docker or models. Of the
// config it only reads where the readable files are.
package office
