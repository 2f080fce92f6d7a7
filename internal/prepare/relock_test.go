package prepare

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
)

// keptTexts keeps what was made by its inputs.
type keptTexts struct {
	noImages
	texts map[string][]byte
}

func (k keptTexts) KeepMade(
	ctx context.Context, project string, inputs []string, make func(context.Context) ([]byte, error),
) ([]byte, error) {
	key := project + "|" + strings.Join(inputs, "|")
	if text := k.texts[key]; text != nil {
		return text, nil
	}
	text, err := make(ctx)
	if err == nil && text != nil {
		k.texts[key] = text
	}
	return text, err
}

// What generators made of a tree, or why they did not, is given again for the same tree,
// commands and image; what may come to something else is not kept, nor is an error.
func TestGeneratedFilesAreKept(t *testing.T) {
	t.Parallel()
	trees := &TreeImages{intake: &Intake{Config{Images: keptTexts{texts: map[string][]byte{}}}}}
	task := func(image string) *company.Task {
		return &company.Task{Project: company.Project{ID: "p"}, Prepared: &company.TaskPrepared{Image: image}}
	}
	runs := 0
	get := func(image string, tree company.OID, command string, g ecosystem.Generated, fails error) ecosystem.Generated {
		t.Helper()
		got, err := trees.RemakeGenerated(
			t.Context(), task(image), tree, []string{command}, func(context.Context) (ecosystem.Generated, error) {
				runs++
				return g, fails
			})
		if !errors.Is(err, fails) {
			t.Error(err)
		}
		return got
	}
	made := ecosystem.Generated{Files: []ecosystem.MadeFile{{Path: "a", Command: "make", Text: []byte("a\xff\n")}}}
	failed := ecosystem.Generated{Why: "it failed"}
	passing := ecosystem.Generated{Why: "out of memory", MayPass: true}
	get("i", "1", "make", made, context.DeadlineExceeded)
	for i, c := range []struct {
		image   string
		tree    company.OID
		command string
		give    ecosystem.Generated
		want    ecosystem.Generated
		runs    int
	}{
		{"i", "1", "make", made, made, 2}, {"i", "1", "make", failed, made, 2},
		{"i", "1", "make x", failed, failed, 3}, {"i", "1", "make x", made, failed, 3},
		{"j", "1", "make", failed, failed, 4}, {"i", "2", "make", passing, passing, 5}, {"i", "2", "make", made, made, 6},
	} {
		if got := get(c.image, c.tree, c.command, c.give, nil); !reflect.DeepEqual(got, c.want) || runs != c.runs {
			t.Errorf("%d: %+v after %d runs", i, got, runs)
		}
	}
}
