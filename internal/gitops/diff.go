package gitops

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/gitops/gitexec"
)

// FileChange is one path that differs between two trees.
type FileChange struct {
	company.Change
	OldMode, NewMode int // 0 if the file does not exist
	OldOID, NewOID   company.OID
}

// Diff holds the changes from one tree to another.
type Diff struct {
	Changes   []FileChange // sorted by path; a rename is a deletion and a creation
	Patch     []byte       // unified diff; binary files are only named
	Truncated bool         // the patch was longer than the limit
}

// Paths returns the changes without their modes and former objects.
func (d Diff) Paths() []company.Change {
	var out []company.Change
	for _, c := range d.Changes {
		out = append(out, c.Change)
	}
	return out
}

// Diff compares two commits or trees. The patch is cut at maxPatch bytes; 0 makes no patch. It applies no external
// diff, text conversion or attribute.
func (m *Mirror) Diff(ctx context.Context, from, to company.OID, maxPatch int) (Diff, error) {
	return m.DiffAround(ctx, from, to, maxPatch, 3)
}

// PatchOf returns the patch of some paths between two commits or trees, cut at maxPatch bytes. Without paths it is that
// of all.
func (m *Mirror) PatchOf(
	ctx context.Context, from, to company.OID, paths []string, maxPatch int,
) (patch []byte, truncated bool, err error) {
	return m.readPatch(ctx, from, to, paths, maxPatch, 3)
}

// DiffAround is like Diff, with the given number of unchanged lines around each change.
func (m *Mirror) DiffAround(ctx context.Context, from, to company.OID, maxPatch, lines int) (Diff, error) {
	var diff Diff
	var err error
	if diff.Changes, err = m.s.diffChanges(ctx, m.dir, from, to); err != nil || maxPatch <= 0 {
		return diff, err
	}
	diff.Patch, diff.Truncated, err = m.readPatch(ctx, from, to, nil, maxPatch, lines)
	return diff, err
}

func (m *Mirror) readPatch(
	ctx context.Context, from, to company.OID, paths []string, maxPatch, lines int,
) (text []byte, truncated bool, err error) {
	patch := gitexec.NewHead(maxPatch + 1)
	args := []string{"diff-tree", "-r", "-p", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-color",
		"--unified=" + strconv.Itoa(lines), "--abbrev=8", "--src-prefix=a/", "--dst-prefix=b/", string(from), string(to),
		"--"}
	_, err = m.s.runOK(ctx, call{dir: m.dir, args: append(args, paths...), stdout: patch}) // git takes them literally
	if text = patch.Bytes(); len(text) > maxPatch {
		return text[:maxPatch], true, err
	}
	return text, false, err
}

// diffChanges returns the raw diff of two commits or trees.
func (s *Store) diffChanges(ctx context.Context, dir string, from, to company.OID) ([]FileChange, error) {
	if !from.Valid() || !to.Valid() {
		return nil, company.E(company.EInvalid, "full object ids are needed")
	}
	result, err := s.runOK(
		ctx, call{dir: dir, args: []string{"diff-tree", "-r", "-z", "--raw", "--no-ext-diff", "--no-textconv",
			"--no-renames", "--no-abbrev", string(from), string(to)}})
	if err != nil {
		return nil, err
	}
	return parseRaw(result.out)
}

// parseRaw parses ":oldmode newmode oldid newid status NUL path NUL" records.
func parseRaw(raw []byte) ([]FileChange, error) {
	bad := company.E(company.EGit, "git diff-tree gave unexpected output")
	var out []FileChange
	fields := strings.Split(string(raw), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		f := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(f) != 5 || fields[i][0] != ':' {
			return nil, bad
		}
		oldMode, err1 := strconv.ParseInt(f[0], 8, 32)
		newMode, err2 := strconv.ParseInt(f[1], 8, 32)
		if err1 != nil || err2 != nil {
			return nil, bad
		}
		fileChange := FileChange{OldMode: int(oldMode), NewMode: int(newMode), OldOID: company.OID(f[2]),
			NewOID: company.OID(f[3])}
		fileChange.Path = fields[i+1]
		if newMode != 0 {
			fileChange.Hash = fileChange.NewOID
		}
		switch f[4] {
		case "A":
			fileChange.Action = "created"
		case "D":
			fileChange.Action = "deleted"
		case "M", "T":
			fileChange.Action = "modified"
		default:
			return nil, bad
		}
		out = append(out, fileChange)
	}
	return out, nil
}

// PatchID returns an id of the change from base to head: the SHA-256 over each changed path with its modes and object
// ids on both sides. It stays the same while the base moves in other files only. It changes when a file of the diff
// changed on either side, which is exactly when a reviewer's verdict on the change becomes void. Unlike git patch-id
// it does not depend on a diff algorithm and includes white space and binary files.
func (m *Mirror) PatchID(ctx context.Context, base, head company.OID) (company.Hash, error) {
	changes, err := m.s.diffChanges(ctx, m.dir, base, head)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, c := range changes { // git lists them sorted by path
		fmt.Fprintf(h, "%o %o %s %s %d %s\x00", c.OldMode, c.NewMode, c.OldOID, c.NewOID, len(c.Path), c.Path)
	}
	return company.Hash(hex.EncodeToString(h.Sum(nil))), nil
}
