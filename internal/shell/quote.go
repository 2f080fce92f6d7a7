// Package shell quotes arguments for the shell commands that people get as
// advice. It starts no shell.
package shell

import "mvdan.cc/sh/v3/syntax"

// Quote is a path as a shell reads it.
func Quote(path string) string {
	q, err := syntax.Quote(path, syntax.LangPOSIX)
	if err != nil {
		return path // no shell can name it; people can
	}
	return q
}
