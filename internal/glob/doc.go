// Package glob reads the patterns of plans, of the config and of a repository's
// files, matches paths with them, and decides whether two of them share a path, on
// the globs alone.
//
// It promises that a pattern matches paths inside a repository only, and that an
// answer costs bounded time and memory for any pattern: callers that ask
// about many give a budget of steps. It looks at no file.
package glob
