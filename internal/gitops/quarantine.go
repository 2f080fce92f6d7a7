package gitops

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/gitexec"
)

// Names inside a quarantine.
const (
	// BaseBranch is the branch that HEAD of every quarantine names, at the
	// base commit. It has this fixed name, since a base branch may be
	// called anything.
	BaseBranch = "refs/heads/base"
	// takenSpace holds the ids already taken for the same subtask, each
	// under its own id; git fetch origin <id> gets it.
	takenSpace = "refs/company/taken/"
	// MaxBranches bounds the agent branches of one run.
	MaxBranches = 16
)

// Quarantine is the bare repository that one run's container clones from and
// pushes to. Nothing of other runs is in it, not even as hidden objects.
type Quarantine struct {
	s      *Store
	dir    string
	run    company.RunID
	ticket string
	base   company.OID
	known  []company.OID
	by     *Identity // of every new commit; nil: any
	only   []string  // folders that may change; none: all
	exempt []string  // checks of git that the base itself does not pass, by their ids
}

// OnlyIn keeps pushes, and the taken commit, to changes in these folders.
func (q *Quarantine) OnlyIn(folders []string) { q.only = slices.Clone(folders) }

// OnlyBy holds pushes, and the taken commit, to one identity.
func (q *Quarantine) OnlyBy(id Identity) { q.by = &id }

// Ticket is what branches and commits of a run are named after: its subtask,
// else its task.
func Ticket(run company.RunID) (string, error) {
	task, sub, _, _, err := run.Split()
	if err != nil {
		return "", err
	}
	if sub != "" {
		return string(sub), nil
	}
	return string(task), nil
}

// Quarantine opens the run's repository, making it when it is not there: the
// history of base on BaseBranch, and extra, the ids already taken for the
// same subtask. A repository that was made for another base is E_CONFLICT.
func (s *Store) Quarantine(ctx context.Context, m *Mirror, run company.RunID, base OID, extra []OID) (*Quarantine, error) {
	ticket, err := Ticket(run)
	if err != nil {
		return nil, err
	}
	for _, id := range append([]OID{base}, extra...) {
		got, err := m.Resolve(ctx, string(id))
		if err != nil {
			return nil, err
		}
		if got != id {
			return nil, company.E(company.EInvalid, fmt.Sprintf("%s is not a commit", id.Short()))
		}
	}
	q := &Quarantine{s: s, dir: s.quarantineDir(run), run: run, ticket: ticket, base: base, known: slices.Clone(extra)}
	unlock, err := s.lockRepo(ctx, q.dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if there, err := s.pathExists(q.dir); err != nil {
		return nil, err
	} else if !there {
		seed, err := s.ensureSeed(ctx, m, base)
		if err != nil {
			return nil, err
		}
		err = s.createRepo(ctx, q.dir, strings.TrimPrefix(BaseBranch, "refs/heads/"), func(tmp string) error {
			if err := s.linkPacks(seed, tmp); err != nil {
				return err
			}
			_, err := s.runOK(ctx, call{dir: tmp, args: []string{"update-ref", BaseBranch, string(base)}})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	q.removeStaleObjects() // after a crash; the push of then is gone
	at, err := s.resolveRev(ctx, q.dir, BaseBranch, "commit")
	if err != nil {
		return nil, err
	}
	if at != base {
		return nil, company.E(company.EConflict, fmt.Sprintf("the repository of run %s was made for base %s, not %s", run, at.Short(), base.Short()))
	}
	if err := q.exemptBase(ctx); err != nil {
		return nil, err
	}
	for _, id := range extra {
		if got, err := s.resolveRev(ctx, q.dir, takenSpace+string(id), "commit"); err == nil && got == id {
			continue
		}
		if err := s.copyCommit(ctx, m.dir, q.dir, id, takenSpace+string(id), nil); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// exemptList is the file of a quarantine that names the base's own special files.
const exemptList = "base-special-files"

// specialLinks are the checks of git for special files that are symbolic links.
var specialLinks = map[string]string{
	".gitmodules": "gitmodulesSymlink", ".gitattributes": "gitattributesSymlink", ".gitignore": "gitignoreSymlink", ".mailmap": "mailmapSymlink",
}

// exemptBase has git's own checks pass what the base has already. Git looks at the special
// files (.gitmodules and such) of each new tree, also where they are as they were, and each
// commit makes a new tree of the root: one odd file of the base's would have each push
// refused. A file that a run makes anew has another id, and is checked; links that are new
// are refused by the check of names.
func (q *Quarantine) exemptBase(ctx context.Context) error {
	out, err := q.s.runOK(ctx, call{dir: q.dir, args: []string{"ls-tree", "-z", string(q.base)}})
	if err != nil {
		return err
	}
	ids := ""
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out.out), "\x00"), "\x00") {
		about, name, _ := strings.Cut(line, "\t")
		f := strings.Fields(about)
		if len(f) != 3 || f[1] != "blob" {
			continue
		}
		look := looksLike(name)
		if check := specialLinks[look]; check != "" && f[0] == "120000" {
			q.exempt = append(q.exempt, check)
		}
		if strings.HasPrefix(look, ".git") {
			ids += f[2] + "\n"
		}
	}
	name := q.s.relName(q.dir) + "/" + exemptList
	if err := q.s.own.WriteFile(name, []byte(ids), 0o600); err != nil {
		return storeError("the repository of run "+string(q.run)+" cannot be made", err)
	}
	return nil
}

// fsckOfBase are the settings for that, for a git process that works in a folder. The path
// is relative: git splits the list of its checks at blanks and commas.
func (q *Quarantine) fsckOfBase(side, from string) []gitexec.Setting {
	dir, err := filepath.Rel(from, q.dir)
	if err != nil {
		return nil // of two roots: all is checked
	}
	out := []gitexec.Setting{{side + ".fsck.skipList", filepath.Join(dir, exemptList)}}
	for _, check := range q.exempt {
		out = append(out, gitexec.Setting{side + ".fsck." + check, "warn"})
	}
	return out
}

// OID is company.OID, for short in signatures here.
type OID = company.OID

func (s *Store) quarantineDir(run company.RunID) string {
	return filepath.Join(s.runsDir(), string(run)+".git")
}

// DropQuarantine removes a run's repository; that it is gone already is fine.
// What the host took is in the mirror.
func (s *Store) DropQuarantine(ctx context.Context, run company.RunID) error {
	if !run.Valid() {
		return company.E(company.EInvalid, fmt.Sprintf("%q is not a run id", string(run)))
	}
	dir := s.quarantineDir(run)
	unlock, err := s.lockRepo(ctx, dir)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.own.RemoveAll(s.relName(dir)); err != nil {
		return storeError("the repository of run "+string(run)+" cannot be removed", err)
	}
	return nil
}

// HasQuarantine reports whether a run has a repository here.
func (s *Store) HasQuarantine(run company.RunID) (bool, error) {
	return s.pathExists(s.quarantineDir(run))
}

// HoldsWork reports whether a run's repository holds a tree that is neither
// its base's nor of what the host had taken before: pushed by the run, or
// saved in its checkpoint.
func (s *Store) HoldsWork(ctx context.Context, run company.RunID) (bool, error) {
	dir := s.quarantineDir(run)
	trees := func(spaces ...string) ([]string, error) {
		r, err := s.runOK(ctx, call{dir: dir, args: append([]string{"for-each-ref", "--format=%(tree)"}, spaces...)})
		if err != nil {
			return nil, err
		}
		return strings.Fields(r.outputText()), nil
	}
	known, err := trees(BaseBranch, takenSpace)
	if err != nil {
		return false, err
	}
	made, err := trees("refs/heads/agent/", CheckpointRef(run))
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(made, func(tree string) bool { return !slices.Contains(known, tree) }), nil
}

// Quarantines lists the runs that have a repository here.
func (s *Store) Quarantines() ([]company.RunID, error) {
	entries, err := s.own.List("runs")
	if err != nil {
		return nil, storeError("the git store cannot be read", err)
	}
	var out []company.RunID
	for _, e := range entries {
		if run, ok := strings.CutSuffix(e.Name(), ".git"); ok && company.RunID(run).Valid() {
			out = append(out, company.RunID(run))
		}
	}
	return out, nil
}

// copyCommit fetches one commit with its history from one repository of ours
// into another.
func (s *Store) copyCommit(ctx context.Context, from, to string, id OID, dst string, config []gitexec.Setting) error {
	if err := s.verifyRepo(from); err != nil {
		return err
	}
	global, done, err := s.scopedConfig(from)
	if err != nil {
		return err
	}
	defer done()
	return s.fetchInto(ctx, to, fetchSpec{
		url: "file://" + from, global: global, protocols: "file", oid: id, dst: dst,
		config: append(historyFsck(), config...),
	})
}

// Dir is the absolute path of the repository.
func (q *Quarantine) Dir() string { return q.dir }

// Run is whose repository it is.
func (q *Quarantine) Run() company.RunID { return q.run }

// Base is the commit that BaseBranch names.
func (q *Quarantine) Base() OID { return q.base }

// BranchPattern is what the agent branches of a ticket match (GIT-2, T8).
func BranchPattern(ticket string) *regexp.Regexp {
	return regexp.MustCompile(`^refs/heads/agent/` + regexp.QuoteMeta(ticket) + `-[a-z0-9._-]{1,64}$`)
}

// CheckpointRef is where a run keeps the state of its work tree.
func CheckpointRef(run company.RunID) string { return "refs/company/checkpoint/" + string(run) }

// ResultRef is where the mirror keeps what the host took from a run.
func ResultRef(run company.RunID) string { return "refs/company/runs/" + string(run) }

// TicketRef is where the mirror keeps the head of a ticket that was merged.
func TicketRef(ticket string) string { return "refs/company/tickets/" + ticket }

// KeepTicket keeps the head of a merged ticket in the mirror. The ledger names it, and the
// history of a squashed commit does not hold it.
func (m *Mirror) KeepTicket(ctx context.Context, ticket string, head company.OID) error {
	old, err := m.Ref(ctx, TicketRef(ticket))
	if err != nil && company.CodeOf(err) != company.ENotFound || old == head {
		return err
	}
	return m.UpdateRef(ctx, TicketRef(ticket), head, old)
}

// Head is the commit at the run's agent branch, by short or full name; with
// branch "" it is the only agent branch that was pushed. false: there is none.
// Several, with branch "", are E_CONFLICT.
func (q *Quarantine) Head(ctx context.Context, branch string) (OID, bool, error) {
	all, err := q.Branches(ctx)
	if err != nil {
		return "", false, err
	}
	if branch != "" {
		id, ok := all["refs/heads/"+strings.TrimPrefix(branch, "refs/heads/")]
		return id, ok, nil
	}
	if len(all) > 1 {
		return "", false, company.E(company.EConflict, fmt.Sprintf("run %s pushed %d branches", q.run, len(all))).
			Because("which one is the result cannot be told")
	}
	for _, id := range all {
		return id, true, nil
	}
	return "", false, nil
}

// Checkpoint is the newest checkpoint of the run; false: there is none.
func (q *Quarantine) Checkpoint(ctx context.Context) (OID, bool, error) {
	id, err := q.s.resolveRev(ctx, q.dir, CheckpointRef(q.run), "commit")
	if company.CodeOf(err) == company.ENotFound {
		return "", false, nil
	}
	return id, err == nil, err
}

// Rewind puts the run's branches and its checkpoint back to where they were:
// branches that are not named were not there. It is for a run that is taken up
// again at a state from before the last pushes.
func (q *Quarantine) Rewind(ctx context.Context, branches map[string]OID, checkpoint OID) error {
	have, err := q.Branches(ctx)
	if err != nil {
		return err
	}
	if at, ok, err := q.Checkpoint(ctx); err != nil {
		return err
	} else if ok {
		have[CheckpointRef(q.run)] = at
	}
	want := maps.Clone(branches)
	if want == nil {
		want = map[string]OID{}
	}
	if checkpoint != "" {
		want[CheckpointRef(q.run)] = checkpoint
	}
	var in strings.Builder
	for ref := range have {
		if want[ref] == "" {
			fmt.Fprintf(&in, "delete %s\n", ref)
		}
	}
	pattern := BranchPattern(q.ticket)
	for ref, id := range want {
		if !id.Valid() || !pattern.MatchString(ref) && ref != CheckpointRef(q.run) {
			return company.E(company.EInvalid, fmt.Sprintf("%q at %q is not where run %s was", ref, id, q.run))
		}
		if have[ref] != id {
			fmt.Fprintf(&in, "update %s %s\n", ref, id)
		}
	}
	if in.Len() == 0 {
		return nil
	}
	_, err = q.s.runOK(ctx, call{dir: q.dir, args: []string{"update-ref", "--stdin"}, stdin: strings.NewReader(in.String())})
	return err
}

// Taken is what the host took from a quarantine.
type Taken struct {
	OID     OID
	Tree    OID
	Base    OID              // merge base of OID and the run's base
	Changes []company.Change // from Base to OID (ART-2)
}

// Take brings exactly one commit from a quarantine into the mirror and points
// dst (ResultRef of the run) at it. Close the run's gateway first. The commit's
// objects are checked as at the push, fsck'd on the way, and the commit must
// share history with the base. E_OBJECTS names the refused object. Taking the
// same commit again changes nothing.
func (m *Mirror) Take(ctx context.Context, q *Quarantine, oid OID, dst string) (Taken, error) {
	if dst != ResultRef(q.run) {
		return Taken{}, company.E(company.EProtected, fmt.Sprintf("%q is not where the result of run %s goes", dst, q.run))
	}
	if !oid.Valid() {
		return Taken{}, company.E(company.EInvalid, "a full object id is needed")
	}
	got, err := q.s.resolveRev(ctx, q.dir, string(oid), "commit")
	if err != nil && company.CodeOf(err) != company.ENotFound {
		return Taken{}, err
	}
	if got != oid {
		return Taken{}, company.E(company.EObjects, fmt.Sprintf("run %s has no commit %s", q.run, oid.Short())).Wrap(err)
	}
	if err := q.checkObjects(ctx, nil, []OID{oid}); err != nil {
		return Taken{}, err
	}
	global, done, err := q.s.scopedConfig(q.dir)
	if err != nil {
		return Taken{}, err
	}
	defer done()
	// No reference is named here: it moves by compare-and-set, below.
	if err := m.fetchCommit(ctx, fetchSpec{url: "file://" + q.dir, global: global, protocols: "file", oid: oid, config: append(strictFsck(), q.fsckOfBase("fetch", m.dir)...)}); err != nil {
		return Taken{}, company.E(company.EObjects, fmt.Sprintf("the commit %s of run %s cannot be taken", oid.Short(), q.run)).Wrap(err)
	}
	t := Taken{OID: oid}
	if t.Base, err = m.MergeBase(ctx, q.base, oid); err != nil {
		if company.CodeOf(err) == company.ENotFound {
			err = company.E(company.EObjects, fmt.Sprintf("the commit %s shares no history with the base", oid.Short())).
				Fix("commit on top of the branch " + strings.TrimPrefix(BaseBranch, "refs/heads/"))
		}
		return Taken{}, err
	}
	if t.Tree, err = m.Tree(ctx, oid); err != nil {
		return Taken{}, err
	}
	changes, err := m.s.diffChanges(ctx, m.dir, t.Base, oid)
	if err != nil {
		return Taken{}, err
	}
	for _, c := range changes {
		t.Changes = append(t.Changes, c.Change)
	}
	old, err := m.Ref(ctx, dst)
	if err != nil && company.CodeOf(err) != company.ENotFound {
		return Taken{}, err
	}
	if old == oid {
		return t, nil
	}
	return t, m.UpdateRef(ctx, dst, oid, old)
}
