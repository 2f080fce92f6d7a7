package app

import (
	"math/rand/v2"
	"net/url"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/container"
	"company/internal/gitops"
)

// Any run id of the grammar is a subject, a label of a container, a name of a ref, a file and a
// part of a URL, and is the same when it is read back.
func TestRunIDsFitTheirConsumers(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	roles, seen := company.Roles(), map[company.Role]bool{}
	refs := []string{}
	for range 4000 {
		task := company.NewTaskID(1 + rng.IntN(1+rng.IntN(999_999_999)))
		sub := company.SubtaskID("")
		if rng.IntN(3) > 0 {
			sub = company.NewSubtaskID(task, 1+rng.IntN(999))
		}
		role := roles[rng.IntN(len(roles))]
		id := company.NewRunID(task, sub, role, 1+rng.IntN(999_999))
		if !id.Valid() {
			continue // the role has no such runs
		}
		seen[role] = true
		text := string(id)
		if err := bus.CheckSubject(bus.JournalPrefix + text); err != nil {
			t.Errorf("subject: %v", err)
		}
		labels := container.Labels{Office: "k3fq", Run: text, Epoch: 1, Role: string(role)}
		if err := labels.Validate(); err != nil {
			t.Errorf("label: %v", err)
		}
		if back, ok := container.ParseLabels(labels.Map()); !ok || back != labels {
			t.Errorf("label: %+v, %v", back, ok)
		}
		if name := labels.Name(); len(name) > 63 {
			t.Errorf("container name: %s has %d bytes", name, len(name))
		}
		if file := id.FilePath("transcript.md"); path.Clean(file) != file || path.Base(path.Dir(file)) != text {
			t.Errorf("file: %s", file)
		}
		if part := url.PathEscape(text); part != text {
			t.Errorf("URL: %s", part)
		}
		if !toolRunRE.MatchString(text) {
			t.Errorf("the toolbox refuses %s", text)
		}
		if len(refs) < 40 {
			refs = append(refs, gitops.ResultRef(id), gitops.CheckpointRef(id))
		}
	}
	for _, ref := range refs {
		if out, err := exec.Command("git", "check-ref-format", ref).CombinedOutput(); err != nil ||
			strings.HasSuffix(ref, ".lock") {
			t.Errorf("ref %s: %v %s", ref, err, out)
		}
	}
	if len(seen) != len(roles) {
		t.Errorf("drawn: %v", seen)
	}
}

// toolRunRE is what the toolbox takes for a run (internal/toolbox/toolserver).
var toolRunRE = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,40}\.[1-9][0-9]{0,5}$`)
