// Package glob parses the patterns of plans, of the config and of a repository's files. It matches paths against them,
// and decides whether two patterns have a common path without looking at files.
//
// A pattern matches only paths inside a repository. Every answer costs bounded time and memory for any pattern. Callers
// with many questions pass a budget of steps.
package glob
