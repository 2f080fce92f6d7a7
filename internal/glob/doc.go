// Package glob reads the globs of plans and of the config, matches paths with
// them, and decides whether two of them share a path, on the globs alone.
//
// It promises that a glob which it read names paths inside a repository only,
// and that an answer costs bounded time and memory: a question that is too
// large counts as an overlap. It looks at no file.
package glob
