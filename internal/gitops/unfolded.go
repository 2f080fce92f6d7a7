package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"company/internal/company"
)

// Limits for the expanded size of a clone. A repository of some hundred KB can contain a tree of many GB, with one
// folder many times.
const (
	maxCloneEntries = 1_000_000
	maxCloneBytes   = 16 << 30
)

// unfolded counts the entries of a tree, including folders, and the bytes of its files, from the output of git
// ls-tree -r -t -l -z. Beyond a limit its Write fails with errTooLarge, which also ends git.
type unfolded struct {
	maxEntries, entries int
	maxBytes, bytes     int64
	rest                []byte // the beginning of an incomplete line
}

var errTooLarge = errors.New("the tree is too large")

func (u *unfolded) Write(p []byte) (int, error) {
	text := append(u.rest, p...)
	for {
		line, more, ok := bytes.Cut(text, []byte{0})
		if !ok {
			break
		}
		text = more
		about, _, _ := bytes.Cut(line, []byte("\t")) // mode, kind, id, size
		u.entries++
		if f := bytes.Fields(about); len(f) == 4 {
			size, _ := strconv.ParseInt(string(f[3]), 10, 64) // "-" of a folder
			u.bytes += size
		}
		if u.entries > u.maxEntries || u.bytes > u.maxBytes {
			return 0, errTooLarge
		}
	}
	u.rest = bytes.Clone(text)
	return len(p), nil
}

// checkUnfolded returns an error for a commit whose files would fill the disk.
func (c *clone) checkUnfolded(ctx context.Context, commit company.OID, u *unfolded) error {
	_, err := c.a.s.runOK(
		ctx, call{dir: c.gitDir(), args: []string{"ls-tree", "-r", "-t", "-l", "-z", "--full-tree", string(commit)},
			stdout: u, limit: networkLimit})
	if u.entries > u.maxEntries || u.bytes > u.maxBytes {
		return company.E(company.EInvalid, WithoutLogin(c.at.URL)+" is too large to clone").
			Because(fmt.Sprintf("it has more than %d files and folders, or more than %d MiB", u.maxEntries,
				u.maxBytes>>20)).
			Fix("clone it yourself, and name the clone with --repo").NeedsPerson()
	}
	return err
}
