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
	"company/internal/gitops/gitexec"
)

// Names inside a quarantine repository.
const (
	// BaseBranch is the branch that HEAD of every quarantine names. It points at the base commit. Its name is fixed,
	// because a base branch may have any name.
	BaseBranch = "refs/heads/base"
	// takenSpace holds the commits already taken for the same subtask, each under its own id. git fetch origin <id> gets
	// it.
	takenSpace = "refs/company/taken/"
	// MaxBranches limits the agent branches of one run.
	MaxBranches = 16
)

// Quarantine is the bare repository that one run's container clones from and pushes to. It contains no objects of
// other runs, not even hidden ones.
type Quarantine struct {
	s      *Store
	dir    string
	run    company.RunID
	ticket string
	base   company.OID
	known  []company.OID
	by     *Identity // required author of every new commit; nil allows any
	only   []string  // folders that may change; empty allows all
	exempt []string  // ids of git's fsck checks that the base itself fails
}

// OnlyIn limits pushes and the taken commit to changes in these folders.
func (q *Quarantine) OnlyIn(folders []string) { q.only = slices.Clone(folders) }

// OnlyBy limits pushes and the taken commit to one identity.
func (q *Quarantine) OnlyBy(id Identity) { q.by = &id }

// Ticket returns the id that a run's branches and commits are named after: its subtask, or its task if it has none.
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

// Quarantine opens the run's repository and creates it if it is missing. It contains the history of base on
// BaseBranch, and extra, the commits already taken for the same subtask. It fails with E_CONFLICT if the repository
// was created for another base.
func (s *Store) Quarantine(
	ctx context.Context, mirror *Mirror, run company.RunID, base OID, extra []OID,
) (*Quarantine, error) {
	ticket, err := Ticket(run)
	if err != nil {
		return nil, err
	}
	for _, id := range append([]OID{base}, extra...) {
		got, err := mirror.Resolve(ctx, string(id))
		if err != nil {
			return nil, err
		}
		if got != id {
			return nil, company.E(company.EInvalid, fmt.Sprintf("%s is not a commit", id.Short()))
		}
	}
	quarantine := &Quarantine{s: s, dir: s.quarantineDir(run), run: run, ticket: ticket, base: base,
		known: slices.Clone(extra)}
	unlock, err := s.lockRepo(ctx, quarantine.dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if there, err := s.pathExists(quarantine.dir); err != nil {
		return nil, err
	} else if !there {
		seed, err := s.ensureSeed(ctx, mirror, base)
		if err != nil {
			return nil, err
		}
		err = s.createRepo(ctx, quarantine.dir, strings.TrimPrefix(BaseBranch, "refs/heads/"), func(tmp string) error {
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
	quarantine.removeStaleObjects() // after a crash; that push is lost
	at, err := s.resolveRev(ctx, quarantine.dir, BaseBranch, "commit")
	if err != nil {
		return nil, err
	}
	if at != base {
		return nil, company.E(company.EConflict,
			fmt.Sprintf("the repository of run %s was made for base %s, not %s", run, at.Short(), base.Short()))
	}
	if err := quarantine.exemptBase(ctx); err != nil {
		return nil, err
	}
	for _, id := range extra {
		if got, err := s.resolveRev(ctx, quarantine.dir, takenSpace+string(id), "commit"); err == nil && got == id {
			continue
		}
		if err := s.copyCommit(ctx, mirror.dir, quarantine.dir, id, takenSpace+string(id), nil); err != nil {
			return nil, err
		}
	}
	return quarantine, nil
}

// exemptList is the file in a quarantine that lists the base's own special files.
const exemptList = "base-special-files"

// specialLinks maps special files to git's fsck checks for the case that they are symbolic links.
var specialLinks = map[string]string{
	".gitmodules": "gitmodulesSymlink", ".gitattributes": "gitattributesSymlink", ".gitignore": "gitignoreSymlink",
	".mailmap": "mailmapSymlink",
}

// exemptBase exempts special files that the base already has from git's own checks. Git checks the special files
// (.gitmodules and others) of each new tree, even unchanged ones, and each commit makes a new root tree. One odd file
// in the base would therefore make git refuse every push. A special file that a run changes has another id and is
// checked. New links are refused by the check of names.
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

// fsckOfBase returns the git settings for these exemptions, for a git process that runs in folder from: a fetch in the
// store's home, a receiving process in its repository. The path is relative, because git splits its list at blanks and
// commas.
func (q *Quarantine) fsckOfBase(side, from string) []gitexec.Setting {
	dir, err := filepath.Rel(from, q.dir)
	if err != nil {
		return nil // different roots: everything is checked
	}
	out := []gitexec.Setting{{side + ".fsck.skipList", filepath.Join(dir, exemptList)}}
	for _, check := range q.exempt {
		out = append(out, gitexec.Setting{side + ".fsck." + check, "warn"})
	}
	return out
}

// OID is short for company.OID.
type OID = company.OID

func (s *Store) quarantineDir(run company.RunID) string {
	return filepath.Join(s.runsDir(), string(run)+".git")
}

// DropQuarantine removes a run's repository. It is not an error if it is already gone. The commits that the host took
// are in the mirror.
func (s *Store) DropQuarantine(ctx context.Context, run company.RunID) error {
	if !run.Valid() {
		return company.E(company.EInvalid, fmt.Sprintf("invalid run id %q", string(run)))
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

// HoldsWork reports whether a run's repository has a tree that differs from its base and from everything the host
// took before. The tree may have been pushed by the run or saved in its checkpoint.
func (s *Store) HoldsWork(ctx context.Context, run company.RunID) (bool, error) {
	dir := s.quarantineDir(run)
	trees := func(spaces ...string) ([]string, error) {
		result, err := s.runOK(ctx, call{dir: dir, args: append([]string{"for-each-ref", "--format=%(tree)"}, spaces...)})
		if err != nil {
			return nil, err
		}
		return strings.Fields(result.outputText()), nil
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

// copyCommit fetches one commit with its history from one of our repositories into another.
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

// Dir returns the absolute path of the repository.
func (q *Quarantine) Dir() string { return q.dir }

// Run returns the run that the repository belongs to.
func (q *Quarantine) Run() company.RunID { return q.run }

// TakeRecorded makes a commit of the mirror in dir the run's work, as if it had been pushed. Mirror.Take checks it like
// that. It is for the replay of a run whose agent is another program.
func (q *Quarantine) TakeRecorded(ctx context.Context, dir string, oid OID, branch string) error {
	global, done, err := q.s.scopedConfig(dir)
	if err != nil {
		return err
	}
	defer done()
	return q.s.fetchInto(ctx, q.dir, fetchSpec{url: "file://" + dir, global: global, protocols: "file", oid: oid,
		dst: "refs/heads/" + branch, config: append(strictFsck(), q.fsckOfBase("fetch", q.s.homeDir())...)})
}

// Base returns the commit that BaseBranch names.
func (q *Quarantine) Base() OID { return q.base }

// BranchPattern returns the pattern that agent branches of a ticket must match (GIT-2, T8).
func BranchPattern(ticket string) *regexp.Regexp {
	return regexp.MustCompile(`^refs/heads/agent/` + regexp.QuoteMeta(ticket) + `-[a-z0-9._-]{1,64}$`)
}

// CheckpointRef returns the reference where a run saves the state of its work tree.
func CheckpointRef(run company.RunID) string { return "refs/company/checkpoint/" + string(run) }

// ResultRef returns the mirror's reference for the commit that the host took from a run.
func ResultRef(run company.RunID) string { return "refs/company/runs/" + string(run) }

// TicketRef returns the mirror's reference for the head of a merged ticket.
func TicketRef(ticket string) string { return "refs/company/tickets/" + ticket }

// KeepTicket keeps the head of a merged ticket in the mirror. The ledger names this commit, but the history of a
// squashed commit does not contain it.
func (m *Mirror) KeepTicket(ctx context.Context, ticket string, head company.OID) error {
	old, err := m.Ref(ctx, TicketRef(ticket))
	if err != nil && company.CodeOf(err) != company.ENotFound || old == head {
		return err
	}
	return m.UpdateRef(ctx, TicketRef(ticket), head, old)
}

// Head returns the commit of the run's agent branch, by short or full name. With branch "", it returns the only agent
// branch that was pushed, and fails with E_CONFLICT if there are several. It returns false if there is no such
// branch.
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
			Because("it is unclear which one is the result")
	}
	for _, id := range all {
		return id, true, nil
	}
	return "", false, nil
}

// Checkpoint returns the newest checkpoint of the run, or false if there is none.
func (q *Quarantine) Checkpoint(ctx context.Context) (OID, bool, error) {
	id, err := q.s.resolveRev(ctx, q.dir, CheckpointRef(q.run), "commit")
	if company.CodeOf(err) == company.ENotFound {
		return "", false, nil
	}
	return id, err == nil, err
}

// Rewind resets the run's branches and its checkpoint to an earlier state, and deletes branches that are not listed.
// It is for a run that resumes at a state from before its last pushes.
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
	_, err = q.s.runOK(
		ctx, call{dir: q.dir, args: []string{"update-ref", "--stdin"}, stdin: strings.NewReader(in.String())})
	return err
}

// Taken describes a commit that the host took from a quarantine.
type Taken struct {
	OID     OID
	Tree    OID
	Base    OID              // merge base of OID and the run's base
	Changes []company.Change // from Base to OID (ART-2)
}

// Take copies exactly one commit from a quarantine into the mirror and points dst (ResultRef of the run) at it. Close
// the run's gateway first. The commit's objects are checked as at a push and by fsck during the transfer. The commit
// must share history with the base. E_OBJECTS names the refused object. Taking the same commit again changes nothing.
func (m *Mirror) Take(ctx context.Context, quarantine *Quarantine, oid OID, dst string) (Taken, error) {
	if dst != ResultRef(quarantine.run) {
		return Taken{}, company.E(company.EProtected,
			fmt.Sprintf("%q is not where the result of run %s goes", dst, quarantine.run))
	}
	if !oid.Valid() {
		return Taken{}, company.E(company.EInvalid, "a full object id is needed")
	}
	got, err := quarantine.s.resolveRev(ctx, quarantine.dir, string(oid), "commit")
	if err != nil && company.CodeOf(err) != company.ENotFound {
		return Taken{}, err
	}
	if got != oid {
		return Taken{}, company.E(company.EObjects,
			fmt.Sprintf("run %s has no commit %s", quarantine.run, oid.Short())).Wrap(err)
	}
	if err := quarantine.checkObjects(ctx, nil, []OID{oid}); err != nil {
		return Taken{}, err
	}
	global, done, err := quarantine.s.scopedConfig(quarantine.dir)
	if err != nil {
		return Taken{}, err
	}
	defer done()
	// No reference is passed here: it moves by compare-and-set, below.
	if err := m.fetchCommit(
		ctx, fetchSpec{url: "file://" + quarantine.dir, global: global, protocols: "file", oid: oid,
			config: append(strictFsck(), quarantine.fsckOfBase("fetch", m.s.homeDir())...)}); err != nil {
		return Taken{}, company.E(company.EObjects,
			fmt.Sprintf("cannot take the commit %s of run %s", oid.Short(), quarantine.run)).Wrap(err)
	}
	taken := Taken{OID: oid}
	if taken.Base, err = m.MergeBase(ctx, quarantine.base, oid); err != nil {
		if company.CodeOf(err) == company.ENotFound {
			err = company.E(company.EObjects, fmt.Sprintf("the commit %s shares no history with the base", oid.Short())).
				Fix("commit on top of the branch " + strings.TrimPrefix(BaseBranch, "refs/heads/"))
		}
		return Taken{}, err
	}
	if taken.Tree, err = m.Tree(ctx, oid); err != nil {
		return Taken{}, err
	}
	changes, err := m.s.diffChanges(ctx, m.dir, taken.Base, oid)
	if err != nil {
		return Taken{}, err
	}
	for _, c := range changes {
		taken.Changes = append(taken.Changes, c.Change)
	}
	old, err := m.Ref(ctx, dst)
	if err != nil && company.CodeOf(err) != company.ENotFound {
		return Taken{}, err
	}
	if old == oid {
		return taken, nil
	}
	return taken, m.UpdateRef(ctx, dst, oid, old)
}
