package toolserver

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"company/internal/toolbox/toolproto"
)

// makeRepo writes a repository whose HEAD is on the branch, with only the data that the host sent. It has the result
// of git init and several git config calls without starting those processes.
func (s *Server) makeRepo(request toolproto.PrepareRequest) error {
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags", "info"} {
		if err := s.root.MkdirAll(".git/"+dir, 0o755); err != nil {
			return fmt.Errorf("make the repository: %w", err)
		}
	}
	files := map[string]string{
		"HEAD":   "ref: refs/heads/" + request.Branch + "\n",
		"config": cloneConfig(request),
		// Files are identical to their blobs: line ends are not converted, no filter runs, and LFS pointers stay pointers.
		// This file overrides .gitattributes.
		"info/attributes": "* -text -ident -filter -working-tree-encoding\n",
		"info/exclude":    "",
	}
	if request.Baked != "" {
		objects := filepath.Join(request.Baked, "objects")
		if info, err := os.Stat(objects); err == nil && info.IsDir() {
			files["objects/info/alternates"] = objects + "\n"
		}
	}
	if request.Seeded != nil {
		refs, err := packedRefs(request.Seeded.Refs)
		if err != nil {
			return err
		}
		files["packed-refs"] = refs
	}
	for name, text := range files {
		if err := s.root.WriteFile(".git/"+name, []byte(text), 0o644); err != nil {
			return fmt.Errorf("make the repository: %w", err)
		}
	}
	return nil
}

// cloneConfig returns the git configuration of the clone.
func cloneConfig(request toolproto.PrepareRequest) string {
	return `[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
	logallrefupdates = true
	autocrlf = false
[submodule]
	recurse = false
[fetch]
	recurseSubmodules = false
[user]
	name = ` + quoteSetting(request.AuthorName) + `
	email = ` + quoteSetting(request.AuthorEmail) + `
	useConfigOnly = true
[remote "origin"]
	url = ` + quoteSetting(request.CloneURL) + `
	fetch = +refs/heads/*:refs/remotes/origin/*
[push]
	default = current
`
}

// quoteSetting quotes a value for git's configuration.
func quoteSetting(v string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(v) + `"`
}

// plainBranch matches names that every version of git accepts for a branch.
var plainBranch = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]|[./][A-Za-z0-9_-])*$`)

// isPlainBranch reports whether a branch name is valid without asking git.
func isPlainBranch(name string) bool {
	if name == "HEAD" || !plainBranch.MatchString(name) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasSuffix(part, ".lock") || strings.HasPrefix(part, "-") {
			return false
		}
	}
	return true
}
