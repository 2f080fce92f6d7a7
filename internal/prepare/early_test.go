package prepare

import (
	"context"
	"errors"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/container/image"
	"company/internal/gates"
	"company/internal/gitops/gitopstest"
	"company/internal/lib/hosttest"
)

// slowImages make an image only when another one was asked for that has nothing compiled.
type slowImages struct {
	noImages
	compiled bool // there is something compiled
	fails    error
	asked    chan image.Request
	begun    func() bool // which Ensure waits for, if there is one
}

func (s *slowImages) EnsureUncompiled(_ context.Context, req image.Request) (image.Image, bool, error) {
	s.asked <- req
	return image.Image{Key: "draft", ID: "sha256:draft"}, s.compiled, s.fails
}

func (s *slowImages) Ensure(ctx context.Context, req image.Request) (image.Image, error) {
	select {
	case got := <-s.asked:
		if got.Repo.Commit != req.Repo.Commit {
			return image.Image{}, errors.New("an image of another commit was asked for")
		}
	case <-ctx.Done():
		return image.Image{}, ctx.Err()
	}
	hosttest.WaitUntil(func() (any, bool) { return nil, s.begun == nil || s.begun() || ctx.Err() != nil })
	if ctx.Err() != nil {
		return image.Image{}, ctx.Err()
	}
	return image.Image{Key: "made", ID: "sha256:made"}, nil
}

// heardOnce is a listener that is told of one failure.
type heardOnce struct {
	heard
	said chan struct{}
}

func (h *heardOnce) WatchImage(id company.TaskID, note string) {
	h.heard.WatchImage(id, note)
	close(h.said)
}

func (h *heardOnce) isSaid() bool {
	select {
	case <-h.said:
		return true
	default:
		return false
	}
}

// While the base is compiled workers get an image that has nothing compiled, where there is
// something to compile.
func TestWorkersGetAnEarlyImage(t *testing.T) {
	for name, c := range map[string]struct {
		compiled bool
		fails    error
		early    bool
	}{
		"a base that is compiled":    {compiled: true, early: true},
		"nothing is compiled":        {},
		"an image that is not there": {compiled: true, fails: errors.New("no room")},
	} {
		t.Run(name, func(t *testing.T) {
			p := gitopstest.New(t, map[string]string{"a": "x\n"})
			d := decidertest.New(t)
			evs := d.Must(company.Submit{Instruction: "do it", Project: company.Project{ID: "project", Path: p.Dir}})
			in := newIntake(t, d, p, "develop", Project{Lint: gates.Auto, Test: "go test ./..."})
			told := &heardOnce{said: make(chan struct{})}
			images := &slowImages{compiled: c.compiled, fails: c.fails, asked: make(chan image.Request)}
			switch { // the base is compiled for longer than the start takes, or its failure
			case c.early:
				images.begun = func() bool { return d.View().Tasks[evs[0].Task].Early != nil }
			case c.fails != nil:
				images.begun = told.isSaid
			}
			in.Images, in.Watcher, in.EarlyAfter = images, told, time.Millisecond
			prepared, err := in.prepare(t, d, evs[0].Task)
			if err != nil {
				t.Fatal(err)
			}
			task := d.View().Tasks[evs[0].Task]
			if got := task.Early != nil && task.Early.Image == "draft"; got != c.early || prepared.Image != "made" {
				t.Errorf("early %+v, prepared %+v", task.Early, prepared)
			}
			if told.isSaid() != (c.fails != nil) {
				t.Errorf("told %q", told.heard)
			}
		})
	}
}
