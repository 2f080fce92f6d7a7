package toolserver

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"company/internal/toolproto"
)

// makeRepo writes a repository whose HEAD is on the branch, with nothing in it but
// what the host sent. It is what git init and a git config per setting would
// make, without a process for each.
func (s *Server) makeRepo(r toolproto.PrepareRequest) error {
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags", "info"} {
		if err := s.root.MkdirAll(".git/"+dir, 0o755); err != nil {
			return fmt.Errorf("make the repository: %w", err)
		}
	}
	files := map[string]string{
		"HEAD":   "ref: refs/heads/" + r.Branch + "\n",
		"config": cloneConfig(r),
		// Files are what their blobs are: no line ends are converted, no filter
		// runs, LFS pointers stay pointers. This file is above .gitattributes.
		"info/attributes": "* -text -ident -filter -working-tree-encoding\n",
		"info/exclude":    "",
	}
	if r.Baked != "" {
		objects := filepath.Join(r.Baked, "objects")
		if info, err := os.Stat(objects); err == nil && info.IsDir() {
			files["objects/info/alternates"] = objects + "\n"
		}
	}
	if r.Seeded != nil {
		refs, err := packedRefs(r.Seeded.Refs)
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

// cloneConfig is the configuration of the clone.
func cloneConfig(r toolproto.PrepareRequest) string {
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
	name = ` + quoteSetting(r.AuthorName) + `
	email = ` + quoteSetting(r.AuthorEmail) + `
	useConfigOnly = true
[remote "origin"]
	url = ` + quoteSetting(r.CloneURL) + `
	fetch = +refs/heads/*:refs/remotes/origin/*
[push]
	default = current
`
}

// quoteSetting writes a value as git's configuration takes it.
func quoteSetting(v string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(v) + `"`
}

// plainBranch is a name that git takes for a branch, too, whatever its version.
var plainBranch = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]|[./][A-Za-z0-9_-])*$`)

// isPlainBranch reports whether a branch's name needs no question to git.
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
