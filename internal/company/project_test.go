package company_test

import (
	"strings"
	"testing"

	. "company/internal/company"
)

// SUB-4: a project is known by its tasks or because a person added it; what is
// removed comes back with its next task. Names are told apart.
func TestProjectsAreNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	names := func(want string) {
		t.Helper()
		var got []string
		for _, p := range b.s.Projects() {
			got = append(got, p.Name+"="+p.WorkDir)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("projects: %v, want %s", got, want)
		}
	}
	refuse := func(code Code, c Command) {
		t.Helper()
		if _, err := b.do(President, c); CodeOf(err) != code {
			t.Errorf("%+v: %v", c, err)
		}
	}
	api, web := Project{ID: "api-1", Path: "/src/api"}, Project{ID: "web-1", Path: "/src/web"}
	b.must(President, AddProject{Project: api})
	names("api=/src/api")
	if evs := b.must(President, AddProject{Project: api}); len(evs) != 0 {
		t.Error("a repeat changes something")
	}
	b.must(President, Submit{Instruction: "x", Project: web})
	names("web=/src/web api=/src/api")
	b.must(President, AddProject{Project: web, Name: "site"})
	names("site=/src/web api=/src/api")
	refuse(EConflict, AddProject{Project: Project{ID: "other", Path: "/other/api"}})
	for _, bad := range []string{"t12", "a b", "-x", "a/b", "..", "x\ny", strings.Repeat("a", 65), "ä"} {
		refuse(EInvalid, AddProject{Project: Project{ID: "other", Path: "/o"}, Name: bad})
	}
	refuse(EInvalid, AddProject{Name: "x"})
	refuse(EConflict, RemoveProject{ID: "web-1"}) // its task is open
	refuse(ENotFound, RemoveProject{ID: "nobody"})
	b.must(President, RemoveProject{ID: "api-1"})
	names("site=/src/web")
	refuse(ENotFound, RemoveProject{ID: "api-1"})
	b.must(President, Submit{Instruction: "x", Project: api})
	names("api=/src/api site=/src/web")

	// One that only its tasks know.
	b.must(President, Submit{Instruction: "x", Project: Project{ID: "lib-1", Path: "/src/lib"}})
	b.must(President, Cancel{Task: "t3"})
	b.must(President, RemoveProject{ID: "lib-1"})
	names("api=/src/api site=/src/web")
	b.must(President, Submit{Instruction: "x", Project: Project{ID: "lib-1", Path: "/src/lib"}})
	names("lib=/src/lib api=/src/api site=/src/web")
}
