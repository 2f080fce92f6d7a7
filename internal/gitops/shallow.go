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

// wholeSpace holds, while a shallow source is being completed, the commits at
// which its history is cut off.
const wholeSpace = "refs/company/whole/"

// maxCuts bounds the commits at which a shallow source is cut off: they
// become arguments of one fetch.
const maxCuts = 1000

// shallowFile is where a checkout lists the commits whose parents it lacks.
func (c *checkout) shallowFile() string { return filepath.Join(c.commonDir, "shallow") }

// shallowError is the refusal of a source whose history cannot be completed.
func shallowError(why string) *company.Error {
	return unusableRepoError("the repository is a shallow clone").Because(why).Fix("run: git fetch --unshallow")
}

// completeHistory brings into the mirror what a shallow source lacks of the history
// of its base, from the source's remote: the commits at the cut, with all that
// is behind them. The fetch of the base itself, from the source, then adds
// what the remote does not have. Nothing in the checkout is written.
func (m *Mirror) completeHistory(ctx context.Context, c *checkout, info BaseInfo) error {
	if _, err := m.Ref(ctx, baseRef(info.OID)); err == nil {
		return nil // it was completed before
	}
	cuts, err := c.shallowCommits(ctx, info.OID)
	if err != nil || len(cuts) == 0 {
		return err
	}
	a, err := m.openRemote(ctx, Remote{URL: info.RemoteURL})
	if err != nil {
		return err
	}
	defer a.done()
	unlock, err := m.s.lockRepo(ctx, m.dir)
	if err != nil {
		return err
	}
	defer unlock()
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--no-recurse-submodules", "--", a.url}
	byID := slices.Clone(args)
	for _, id := range cuts {
		byID = append(byID, "+"+string(id)+":"+wholeSpace+string(id))
	}
	fetch := func(args []string) error {
		n := a.newCall(m.dir, args...)
		n.config = historyFsck()
		_, err := a.runWithRetry(ctx, n)
		return err
	}
	if err := fetch(byID); err != nil {
		// A server may refuse ids that it did not name: its branches have them.
		if again := fetch(append(slices.Clone(args), "+refs/heads/*:"+wholeSpace+"heads/*")); again != nil {
			return withHistoryOp(err)
		}
	}
	for _, id := range cuts {
		// The object alone says nothing: from a remote that is shallow itself
		// it comes without its parents, and git then sets no reference.
		r, err := m.s.run(ctx, call{dir: m.dir, args: []string{"for-each-ref", "--count=1", "--contains=" + string(id), wholeSpace}})
		if err != nil {
			return err
		}
		if r.exit != 0 || len(r.out) == 0 {
			return shallowError(fmt.Sprintf("its history is cut off at %s, and the remote %s does not have all of what is before that commit", id.Short(), Mask(info.RemoteURL)))
		}
	}
	return nil
}

// withHistoryOp adds to a failure at the remote what it was for.
func withHistoryOp(err error) error {
	var e *company.Error
	if !errors.As(err, &e) {
		return err
	}
	c := *e
	c.Op = "complete the history of a shallow clone from its remote"
	if c.Hint != "" {
		c.Hint += "; or do it yourself: git fetch --unshallow"
	} else {
		c.Hint = "run: git fetch --unshallow"
	}
	return &c
}

// shallowCommits are the commits, in the history of the base, whose parents the source
// does not have.
func (c *checkout) shallowCommits(ctx context.Context, base company.OID) ([]company.OID, error) {
	text, err := readGitFile(c.shallowFile())
	if err != nil {
		return nil, company.E(company.EGit, "the repository cannot be read").Wrap(err)
	}
	listed := strings.Fields(string(text))
	r, err := c.s.runOK(ctx, call{dir: c.gitDir, args: []string{"rev-list", "--max-parents=0", string(base)}})
	if err != nil {
		return nil, err
	}
	var out []company.OID
	for id := range strings.FieldsSeq(r.outputText()) {
		if slices.Contains(listed, id) && company.OID(id).Valid() {
			out = append(out, company.OID(id))
		}
	}
	if len(out) > maxCuts {
		return nil, shallowError(fmt.Sprintf("its history is cut off at %d commits", len(out)))
	}
	return out, nil
}

// dropRefs removes the references below space that drop says.
func (m *Mirror) dropRefs(ctx context.Context, space string, drop func(ref string) bool) error {
	r, err := m.s.runOK(ctx, call{dir: m.dir, args: []string{"for-each-ref", "--format=%(refname)", space}})
	if err != nil {
		return err
	}
	var in strings.Builder
	for ref := range strings.SplitSeq(r.outputText(), "\n") {
		if ref != "" && drop(ref) {
			fmt.Fprintf(&in, "delete %s\x00\x00", ref)
		}
	}
	if in.Len() == 0 {
		return nil
	}
	_, err = m.s.runOK(ctx, call{dir: m.dir, args: []string{"update-ref", "--no-deref", "-z", "--stdin"}, stdin: strings.NewReader(in.String())})
	return err
}
