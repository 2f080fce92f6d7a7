package gitops

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/company"
)

// AddFiles writes a new tree: a commit's or tree's files plus the given files (path to content). It moves no
// reference, and Keep decides how long the tree is kept.
func (m *Mirror) AddFiles(ctx context.Context, treeish company.OID, files map[string][]byte) (company.OID, error) {
	index := filepath.Join(m.s.tempDir(), "index-"+rand.Text())
	defer func() { _ = m.s.own.RemoveAll(m.s.relName(index)) }() // git may have created no file
	env := []string{"GIT_INDEX_FILE=" + index}
	if _, err := m.s.runOK(ctx, call{dir: m.dir, env: env, args: []string{"read-tree", string(treeish)}}); err != nil {
		return "", err
	}
	var entries strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		result, err := m.s.runOK(
			ctx, call{dir: m.dir, args: []string{"hash-object", "-w", "-t", "blob", "--stdin"},
				stdin: bytes.NewReader(files[name])})
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&entries, "100644 %s\t%s\x00", result.outputText(), name)
	}
	if _, err := m.s.runOK(
		ctx, call{dir: m.dir, env: env, args: []string{"update-index", "--add", "-z", "--index-info"},
			stdin: strings.NewReader(entries.String())}); err != nil {
		return "", err
	}
	r, err := m.s.runOK(ctx, call{dir: m.dir, env: env, args: []string{"write-tree"}})
	if err != nil {
		return "", err
	}
	id := company.OID(r.outputText())
	if !id.Valid() {
		return "", company.E(company.EGit, "git write-tree gave unexpected output")
	}
	return id, nil
}
