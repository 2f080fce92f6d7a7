package prepare

import (
	"context"
	"errors"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/container/image"
	"company/internal/gates"
	"company/internal/gitops/gitopstest"
)

// fakeStore is a daemon's store of images, and a recipe that can be made on it.
type fakeStore struct {
	noImages
	ids   map[string]string // by key
	makes image.Image
	fails error
	made  int
}

func (f *fakeStore) FindLocal(_ context.Context, key string) (string, error) { return f.ids[key], nil }

func (f *fakeStore) Ensure(context.Context, image.Request) (image.Image, error) {
	if f.fails != nil {
		return image.Image{}, f.fails
	}
	f.made++
	f.ids[string(f.makes.Key)] = f.makes.ID
	return f.makes, nil
}

func (f *fakeStore) Explain(context.Context, image.Request) (image.Explanation, error) {
	return image.Explanation{Layers: []image.LayerInfo{{Kind: "base", Why: "Debian"},
		{Kind: "go", Why: "go1.99 of this host"}}}, nil
}

// layersWith are layers whose keys begin so.
func layersWith(keys ...string) (out []image.Layer) {
	for i, kind := range []string{"base", "go", "toolbox"}[:len(keys)] {
		out = append(out, image.Layer{Kind: kind, Key: company.Hash(strings.Repeat(keys[i], 64))})
	}
	return out
}

// An image that was removed is made again in the middle of a task, wherever it is asked
// for. One that would be another is a person's, but for a newer toolbox; tasks of older
// versions, which have the id of one daemon, take what can be made.
func TestRemovedImageIsMadeAgain(t *testing.T) {
	was, now := strings.Repeat("1", 64), strings.Repeat("2", 64)
	same := layersWith("a", "b", "c")
	for name, c := range map[string]struct {
		prepared company.TaskPrepared
		here     map[string]string
		makes    image.Image
		fails    error
		want     gates.Image
		why, fix string
		told     int
	}{
		"there": {prepared: company.TaskPrepared{Image: was}, here: map[string]string{was: "sha256:a"},
			want: gates.Image{Key: was, ID: "sha256:a"}},
		"gone": {prepared: company.TaskPrepared{Image: was, ImageLayers: shortLayers(same)},
			makes: image.Image{Key: company.Hash(was), ID: "sha256:b", Layers: same},
			want:  gates.Image{Key: was, ID: "sha256:b"}, told: 1},
		"a newer toolbox": {prepared: company.TaskPrepared{Image: was, ImageLayers: shortLayers(same)},
			makes: image.Image{Key: company.Hash(now), ID: "sha256:b", Layers: layersWith("a", "b", "d")},
			want:  gates.Image{Key: now, ID: "sha256:b"}, told: 1},
		"a newer toolchain": {prepared: company.TaskPrepared{Image: was, ImageLayers: shortLayers(same)},
			makes: image.Image{Key: company.Hash(now), ID: "sha256:b", Layers: layersWith("a", "d", "d")},
			why:   "its go layer is made from is not what it was: now it is go1.99 of this host",
			fix:   "company cancel t1", told: 2},
		"one layer less": {prepared: company.TaskPrepared{Image: was, ImageLayers: shortLayers(same)},
			makes: image.Image{Key: company.Hash(now), ID: "sha256:b", Layers: layersWith("a")}, why: "its go layer",
			fix: "company cancel t1", told: 2},
		"it cannot be made": {prepared: company.TaskPrepared{Image: was},
			fails: company.E(company.EImage, "the base is gone").Fix("bring it back").NeedsPerson(), why: "the base is gone",
			fix: "bring it back", told: 2},
		"no daemon, no code": {prepared: company.TaskPrepared{Image: was}, fails: errors.New("broken"),
			why: "broken", told: 2},
	} {
		t.Run(name, func(t *testing.T) {
			p := gitopstest.New(t, map[string]string{"a": "x\n"})
			in := newIntake(t, decidertest.New(t), p, "develop", Project{Lint: gates.Auto, Test: gates.Auto})
			store, told := &fakeStore{ids: c.here, makes: c.makes, fails: c.fails}, &heard{}
			if store.ids == nil {
				store.ids = map[string]string{}
			}
			in.Images, in.Watcher = store, told
			c.prepared.Base.OID = p.Base
			task, images := &company.Task{ID: "t1", Prepared: &c.prepared}, NewTreeImages(in, nil)
			var got gates.Image
			var err error
			for range 2 { // the second time it is there
				got, _, err = images.ImageForTree(t.Context(), task, p.Mirror, p.Base)
				if c.why == "" && (err != nil || got != c.want) {
					t.Fatalf("%+v, %v", got, err)
				}
			}
			if len(*told) != c.told {
				t.Errorf("told %q", *told)
			}
			if c.why == "" {
				return
			}
			if err == nil || got != (gates.Image{}) || !strings.Contains(err.Error(), c.why) {
				t.Fatalf("%+v, %v", got, err)
			}
			var e *company.Error
			if c.fix != "" && (!errors.As(err, &e) || e.Code != company.EImage || !company.NeedsPerson(e) ||
				!strings.Contains(e.Hint, c.fix) ||
				!strings.Contains(e.Error(), "the worker image of t1 was removed and cannot be made again")) {
				t.Errorf("%+v", e)
			}
		})
	}
}
