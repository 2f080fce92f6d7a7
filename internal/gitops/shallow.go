package gitops

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/company"
)

// wholeSpace holds the commits at the cut of a shallow source's history while it is being completed.
const wholeSpace = "refs/company/whole/"

// maxCuts limits the commits at which a shallow source is cut off, because they become arguments of one fetch.
const maxCuts = 1000

// shallowFile returns the path where a checkout lists the commits whose parents it lacks.
func (c *checkout) shallowFile() string { return filepath.Join(c.commonDir, "shallow") }

// shallowError returns the error for a source whose history cannot be completed.
func shallowError(reason string) *company.Error {
	return unusableRepoError("the repository is a shallow clone").Because(reason).Fix("run: git fetch --unshallow")
}

// completeHistory fetches the base's history that a shallow source lacks into the mirror, from the source's remote:
// the commits at the cut with all their ancestors. The later fetch of the base from the source adds the commits that
// the remote lacks. The checkout is not modified.
func (m *Mirror) completeHistory(ctx context.Context, c *checkout, info BaseInfo) error {
	if _, err := m.Ref(ctx, baseRef(info.OID)); err == nil {
		return nil // it was completed earlier
	}
	cuts, err := c.shallowCommits(ctx, info.OID)
	if err != nil || len(cuts) == 0 {
		return err
	}
	endpoint, err := m.openRemote(ctx, Remote{URL: info.RemoteURL})
	if err != nil {
		return err
	}
	defer endpoint.done()
	unlock, err := m.s.lockRepo(ctx, m.dir)
	if err != nil {
		return err
	}
	defer unlock()
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--no-recurse-submodules",
		"--", endpoint.url}
	byID := slices.Clone(args)
	for _, id := range cuts {
		byID = append(byID, "+"+string(id)+":"+wholeSpace+string(id))
	}
	fetch := func(args []string) error {
		n := endpoint.newCall(m.dir, args...)
		n.config = historyFsck()
		_, err := endpoint.runWithRetry(ctx, n)
		return err
	}
	if err := fetch(byID); err != nil {
		// A server may refuse ids that it did not advertise, but its branches contain them.
		if again := fetch(append(slices.Clone(args), "+refs/heads/*:"+wholeSpace+"heads/*")); again != nil {
			return withHistoryOp(err)
		}
	}
	for _, id := range cuts {
		// Having the object is not enough. A shallow remote sends it without its parents, and git then sets no reference.
		result, err := m.s.run(
			ctx, call{dir: m.dir, args: []string{"for-each-ref", "--count=1", "--contains=" + string(id), wholeSpace}})
		if err != nil {
			return err
		}
		if result.exit != 0 || len(result.out) == 0 {
			return shallowError(fmt.Sprintf("its history is cut off at %s, and the remote %s does not have everything "+
				"before that commit", id.Short(), Mask(info.RemoteURL)))
		}
	}
	return nil
}

// withHistoryOp adds the failed operation and a fix to an error of the remote.
func withHistoryOp(err error) error {
	var fault *company.Error
	if !errors.As(err, &fault) {
		return err
	}
	c := *fault
	c.Op = "complete the history of a shallow clone from its remote"
	if c.Hint != "" {
		c.Hint += "; or do it yourself: git fetch --unshallow"
	} else {
		c.Hint = "run: git fetch --unshallow"
	}
	return &c
}

// shallowCommits returns the commits in the base's history whose parents the source lacks.
func (c *checkout) shallowCommits(ctx context.Context, base company.OID) ([]company.OID, error) {
	text, err := readGitFile(c.shallowFile())
	if err != nil {
		return nil, company.E(company.EGit, "the repository cannot be read").Wrap(err)
	}
	listed := strings.Fields(string(text))
	result, err := c.s.runOK(ctx, call{dir: c.gitDir, args: []string{"rev-list", "--max-parents=0", string(base)}})
	if err != nil {
		return nil, err
	}
	var out []company.OID
	for id := range strings.FieldsSeq(result.outputText()) {
		if slices.Contains(listed, id) && company.OID(id).Valid() {
			out = append(out, company.OID(id))
		}
	}
	if len(out) > maxCuts {
		return nil, shallowError(fmt.Sprintf("its history is cut off at %d commits", len(out)))
	}
	return out, nil
}

// dropRefs removes the references below space for which drop returns true.
func (m *Mirror) dropRefs(ctx context.Context, space string, drop func(ref string) bool) error {
	result, err := m.s.runOK(ctx, call{dir: m.dir, args: []string{"for-each-ref", "--format=%(refname)", space}})
	if err != nil {
		return err
	}
	var in strings.Builder
	for ref := range strings.SplitSeq(result.outputText(), "\n") {
		if ref != "" && drop(ref) {
			fmt.Fprintf(&in, "delete %s\x00\x00", ref)
		}
	}
	if in.Len() == 0 {
		return nil
	}
	_, err = m.s.runOK(
		ctx, call{dir: m.dir, args: []string{"update-ref", "--no-deref", "-z", "--stdin"},
			stdin: strings.NewReader(in.String())})
	return err
}
