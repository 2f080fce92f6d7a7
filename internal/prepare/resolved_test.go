package prepare

import (
	"context"
	"strings"
	"testing"

	"company/internal/agentrun/depaccess"
	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/container/image"
	"company/internal/gates"
	"company/internal/gitops/gitopstest"
)

// lockingImages make a lock file for each tree, and images of whatever they are asked for.
type lockingImages struct {
	noImages
	asked []image.Request
}

func (l *lockingImages) Resolve(context.Context, image.Request) (image.Resolved, error) {
	return image.Resolved{
		Locks: map[string][]byte{"web/package-lock.json": []byte(`{"packages":{"node_modules/a":{"version":"1.0.0"}}}`)},
		Notes: []string{"resolved"}}, nil
}

func (l *lockingImages) Ensure(_ context.Context, req image.Request) (image.Image, error) {
	l.asked = append(l.asked, req)
	return image.Image{Key: "made", ID: "sha256:made"}, nil
}

type heard []string

func (h *heard) WatchImage(_ company.TaskID, note string) { *h = append(*h, note) }

// A lock file that was made for a task is kept beside its base: the image is made from
// it, what was resolved is told, and the repository stays as it is.
func TestResolvedOnceForATask(t *testing.T) {
	p := gitopstest.New(t, map[string]string{"web/package.json": `{"dependencies":{"a":"1"}}`})
	d := decidertest.New(t)
	evs := d.Must(company.Submit{Instruction: "do it", Project: company.Project{ID: "project", Path: p.Dir}})
	in := newIntake(t, d, p, "develop", Project{Lint: gates.Auto, Test: gates.Auto})
	images, told := &lockingImages{}, &heard{}
	in.Images, in.Watcher = images, told
	prepared, err := in.prepare(t, d, evs[0].Task)
	if err != nil {
		t.Fatal(err)
	}
	if prepared.Locks == "" || prepared.LockTree() != prepared.Locks || len(images.asked) != 1 ||
		images.asked[0].Repo.Locks != prepared.Locks || images.asked[0].Repo.Commit != prepared.Base.OID {
		t.Fatalf("prepared %+v, asked %+v", prepared, images.asked)
	}
	if strings.Join(*told, ",") != "resolved" {
		t.Errorf("told %q", *told)
	}
	m, err := p.MirrorOf(t.Context(), &company.Task{Project: company.Project{ID: "project", Path: p.Dir}})
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[company.OID]int{prepared.Base.OID: 0, prepared.Locks: 1} {
		if got, err := depaccess.Locks(t.Context(), m, prepared.Base.OID, at); err != nil || len(got) != want {
			t.Errorf("%s has %d lock files, %v", at.Short(), len(got), err)
		}
	}
	// A branch with a lock file elsewhere has the task's as well; one in its place wins.
	task := &company.Task{ID: "t1", Prepared: &prepared}
	was, err := depaccess.Locks(t.Context(), m, prepared.Base.OID, prepared.Locks)
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]int{"other/package-lock.json": 2, "web/yarn.lock": 1} {
		at, err := m.AddFiles(t.Context(), prepared.Base.OID, map[string][]byte{file: []byte("{}")})
		if err != nil {
			t.Fatal(err)
		}
		with, err := addTaskLocks(t.Context(), task, m, at, was)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := depaccess.Locks(t.Context(), m, prepared.Base.OID, with); err != nil || len(got) != want {
			t.Errorf("beside %s: %d lock files, %v", file, len(got), err)
		}
	}
}
