package e2e

import (
	"strings"
	"testing"

	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// booksProject is a project whose suite is one of a real Postgres: a table, and programs
// in SQL that end red where a question is not answered with true. The table of drafts is
// none of the project's.
func booksProject() map[string]string {
	return map[string]string{
		"test.sh": `set -eu
psql -v ON_ERROR_STOP=1 -qf schema.sql
test "$(psql -tAc "select to_regclass('drafts') is null")" = t || { echo 'FAIL: this database is not a fresh one'; exit 1; }
for check in checks/*.sql; do
	got=$(psql -v ON_ERROR_STOP=1 -qtAf "$check") && test "$got" = t || { echo "FAIL $check: $got"; exit 1; }
	echo "ok $check"
done
`,
		"schema.sql":        "create table books (id int primary key, title text not null);\n",
		"checks/insert.sql": "insert into books values (1, 'Emma');\nselect count(*) = 1 from books where title = 'Emma';\n",
		"checks/key.sql": "insert into books values (2, 'Persuasion') on conflict do nothing;\ninsert into books values " +
			"(2, 'again') on conflict do nothing;\nselect title = 'Persuasion' from books where id = 2;\n",
	}
}

// TestServicesBesideATask: where gates.services names Postgres, each container of a task
// has a server of its own: the worker asks it, and what the worker leaves there is in no
// check's. Without the server the suite is red.
func TestServicesBesideATask(t *testing.T) {
	hosttest.Long(t, "installs Postgres of Debian, where no earlier test has")
	t.Parallel()
	h := testenv.New(t, &staff{
		manager: submitPlan([]m{ticket("Find the newest book", "Add newest.sql, a view of the book with the highest id, "+
			"with a check in checks/newest.sql.", "newest.sql", "checks/newest.sql")}),
		worker: replyInSteps(
			call("run_command", m{"command": "psql -tAc 'show server_version' && echo at $DATABASE_URL && psql -c 'create " +
				"table drafts (x int)' && psql -qf schema.sql -c \"insert into books values (7, 'Sanditon')\" && psql -tAc " +
				"'select title from books'"}),
			call("run_command", m{"command": "psql -c 'drop table books' && ! sh test.sh"}),
			call("write_file", m{"path": "newest.sql", "content": "create view newest as select * from books order by id desc " +
				"limit 1;\n"}),
			call("write_file", m{"path": "checks/newest.sql", "content": "\\i newest.sql\ninsert into books values (9, " +
				"'Sanditon');\nselect title = 'Sanditon' from newest;\n"}),
			call("run_command", m{"command": "psql -c 'drop table drafts' -c 'drop table books' && sh test.sh && psql -c " +
				"'create table drafts (x int)'"}),
			call("git_commit", m{"message": "Find the newest book"}),
			call("finish", m{"summary": "the newest book is found"}),
		),
		reviewer: approveAfter("psql -tAc \"select 'drafts here: ' || (to_regclass('drafts') is not null)\" && sh test.sh"),
	}, booksProject())
	h.Config("gates: {lint: none, test: \"sh ./test.sh\", services: [postgres]}\n")
	p := h.Start("submit", "find the newest book")
	if sum := waitForSummary(t, p, 0); sum.Result != "COMPLETE" || !strings.Contains(sum.Why, "test passed") {
		t.Fatalf("%+v\n%s", sum, p.Tell())
	}
	checkDelivered(t, h, 1, 1, 1)
	if base := p.Event(patience, "task.baseline", ""); !strings.Contains(base.Text, "the base is green") {
		t.Errorf("%+v", base)
	}
	checkHolds(t, "the worker", requestText(t, h, "t1-01.1", 6),
		"(Debian 15.", "at postgres://postgres:postgres@127.0.0.1:5432/postgres?sslmode=disable", "Sanditon",
		"FAIL: this database is not a fresh one", "ok checks/insert.sql", "ok checks/newest.sql")
	checkHolds(t, "the reviewer", requestText(t, h, "t1-01-review.1", 2), "drafts here: false", "ok checks/newest.sql")
}
