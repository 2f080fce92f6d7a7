package gates_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/agentrun/sandbox"
	"company/internal/company"
	"company/internal/container"
	"company/internal/container/docker"
	"company/internal/container/image"
	"company/internal/container/service"
	"company/internal/ecosystem/testreport"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/lib/hosttest"
	"company/internal/toolbox/toolproto"
)

// serviceImage makes the image with these services beside commands.
func serviceImage(t *testing.T, wishes ...service.Wish) string {
	t.Helper()
	return ensureImage(t, image.Request{Services: wishes})
}

func ensureImage(t *testing.T, req image.Request) string {
	t.Helper()
	hosttest.NeedsDocker(t)
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	rt, err := docker.Open(ctx, docker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	b, err := image.New(image.Config{Runtime: rt, Progress: func(line string) { t.Log(line) }})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	img, err := b.Ensure(ctx, req)
	if err != nil {
		t.Fatal(err, company.DetailsOf(err))
	}
	return img.ID
}

// judge runs one command as the test gate of the project.
func (b *bundle) judge(image, command string) (company.GateCheck, error) {
	b.t.Helper()
	j := b.job("", command)
	j.Image = gates.ImageByID(image)
	began := time.Now()
	res, err := b.runner.Run(b.ctx, j)
	b.t.Logf("%s: %s", command, time.Since(began).Round(time.Millisecond))
	if err != nil {
		return company.GateCheck{}, err
	}
	return res.Checks[0], nil
}

// A check finds Postgres under the names of the variables that clients read, by those
// that the project gives, and by names of hosts; each container has a fresh one.
func TestChecksFindPostgres(t *testing.T) {
	t.Parallel()
	id := serviceImage(
		t, service.Wish{Name: "postgres", Account: service.Account{User: "app", Password: "s3cret", Database: "app_test"},
			Hosts: []string{"main-db", "registry.npmjs.org"}})
	b := setup(t, nil).withDocker()
	const made = `set -e
test "$(psql -tAc "select current_user || ' ' || current_database() || ' ' || current_setting('server_encoding')")" = "app app_test UTF8"
psql "$DATABASE_URL" -qc "create table t (x int); create extension pgcrypto; insert into t values (1)"
test "$(PGPASSWORD=other psql -h localhost -U postgres -d app_test -tAc 'select count(*) from t')" = 1
env -u PGHOST psql -tAc 'select 1' >/dev/null
for host in db postgres main-db; do
	test "$(getent hosts $host)" = "127.0.0.1       $host"
	test "$(psql -h $host -tAc 'select 1')" = 1
done
if getent hosts registry.npmjs.org; then exit 9; fi
test "$DATABASE_URL" = 'postgres://app:s3cret@127.0.0.1:5432/app_test?sslmode=disable'
test ! -w /opt/services/postgres/data/PG_VERSION
`
	for range 2 { // were the second one not fresh, the table would be there
		if c, err := b.judge(id, made); err != nil || !c.Passed || c.Output != "" {
			t.Fatalf("%v %+v", err, c)
		}
	}
	c, err := b.judge(id, `psql -c 'select no_such_column'`)
	if err != nil || c.Passed || c.ExitCode != 1 ||
		!strings.Contains(c.Output, "[the end of /tmp/services/postgres/log]") ||
		!strings.Contains(c.Output, "STATEMENT:  select no_such_column") {
		t.Errorf("%v %+v", err, c)
	}
}

// breakPostgres has the server fail in each container, as a library that is missing
// would; its data can be prepared.
const breakPostgres = `cd /usr/lib/postgresql/15/bin && mv postgres postgres.real && printf '#!/bin/sh
[ "$1" != -D ] || { echo "LOG:  starting PostgreSQL"; echo "FATAL:  could not load library pg_audit.so"; exit 1; }
exec /usr/lib/postgresql/15/bin/postgres.real "$@"
' >postgres && chmod 755 postgres`

// Where a service cannot start, that is not a verdict, and no agent begins to work: the
// gate and the sandbox end in one screen, with the end of the service's log, and no
// second try is made.
func TestServiceThatCannotStart(t *testing.T) {
	t.Parallel()
	id := ensureImage(t, image.Request{Services: []service.Wish{{Name: "postgres"}}, Setup: []string{breakPostgres}})
	b := setup(t, nil).withDocker()
	_, judged := b.judge(id, "true")
	if len(b.rt.specs) != 1 {
		t.Errorf("%d containers were started for the gate", len(b.rt.specs))
	}
	store, err := gitops.Open(gitops.Config{Root: filepath.Join(t.TempDir(), "git")})
	if err != nil {
		t.Fatal(err)
	}
	m, err := store.Mirror(b.ctx, "project", b.dir)
	if err != nil {
		t.Fatal(err)
	}
	base, err := m.FetchBase(b.ctx, nil, gitops.Source{Path: b.dir}, "main")
	if err != nil {
		t.Fatal(err)
	}
	f, err := sandbox.NewFactory(sandbox.Config{
		Runtime: b.rt, Git: store, Office: b.office, Limits: b.runner.Limits,
		Author:         gitops.Person{Name: "agent", Email: "a@example.org"},
		CommandTimeout: time.Minute, StopGrace: time.Second, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	box, worked := f.Open(
		b.ctx, sandbox.Spec{Mirror: m, Run: "t1-01.1", Role: company.Worker, Epoch: 1, Fence: 1, Image: id, Base: base.OID,
			Start: base.OID, Branch: "agent/t1-01-x"})
	if worked == nil {
		box.Close(b.ctx)
	}
	if len(b.rt.specs) != 2 {
		t.Errorf("%d containers were started", len(b.rt.specs))
	}
	const want = `error[E_GATES]: the service postgres did not start: exit status 1
  why:  [the end of its log] | LOG: starting PostgreSQL | FATAL: could not load library pg_audit.so
  fix:  give it what its log requires (workers.memory, workers.disk, container.setup), or remove it from gates.services
  then: the president is asked
`
	for name, err := range map[string]error{"the gate": judged, "a worker": worked} {
		if got := showScreen(err); got != want {
			t.Errorf("%s ends in\n%s\nwant\n%s", name, got, want)
		}
		if !strings.Contains(company.DetailsOf(err), "pg_audit.so") {
			t.Errorf("%s: the whole output is %q", name, company.DetailsOf(err))
		}
	}
}

// showScreen is an error as the command line shows it, and what becomes of the task.
func showScreen(err error) string {
	var e *company.Error
	if !errors.As(err, &e) {
		return fmt.Sprint("no error for people: ", err)
	}
	then := "it is tried again"
	if company.NeedsPerson(err) {
		then = "the president is asked"
	}
	return fmt.Sprintf("error[%s]: %s\n  why:  %s\n  fix:  %s\n  then: %s\n", e.Code, e.Message, e.Why, e.Hint, then)
}

// A check finds Redis and MariaDB, by address, by name and by socket. The variable that
// all databases share is the first one's.
func TestChecksFindRedisAndMySQL(t *testing.T) {
	hosttest.Long(t, "one of many kinds of checks")
	id := serviceImage(t, service.Wish{Name: "redis"},
		service.Wish{Name: "mysql",
			Account: service.Account{User: "app", Password: "s3cret", Database: "app_test", AdminPassword: "top"}})
	b := setup(t, nil).withDocker()
	const all = `set -e
redis-cli -u "$REDIS_URL" set a 1 >/dev/null
test "$(redis-cli -h localhost get a)" = 1
test "$DATABASE_URL" = 'mysql://app:s3cret@127.0.0.1:3306/app_test'
mysql -u "$MYSQL_USER" "$MYSQL_DATABASE" -e 'create table t (x varchar(10)); insert into t values ("ä")'
test "$(mysql -h localhost -u root -ptop "$MYSQL_DATABASE" -Ne 'select count(*) from t')" = 1
env -u MYSQL_UNIX_PORT mysql -h localhost -u app -ps3cret -e 'create database other'
if mysql -h 127.0.0.1 -u root -pwrong -e 'select 1' 2>/dev/null; then exit 9; fi
`
	for range 2 {
		if c, err := b.judge(id, all); err != nil || !c.Passed || c.Output != "" {
			t.Fatalf("%v %+v", err, c)
		}
	}
}

// A check finds RabbitMQ with the account of the project, memcached and Mosquitto. What it asks them is
// written out, since the image has no clients of theirs.
func TestChecksFindQueuesAndCaches(t *testing.T) {
	hosttest.Long(t, "one of many kinds of checks")
	id := serviceImage(
		t, service.Wish{Name: "rabbitmq", Account: service.Account{User: "app", Password: "s3cret", Database: "jobs"}},
		service.Wish{Name: "memcached"}, service.Wish{Name: "mosquitto"})
	b := setup(t, nil).withDocker()
	const all = `bash -e <<'END'
test "$AMQP_URL" = 'amqp://app:s3cret@127.0.0.1:5672/jobs'
exec 3<>/dev/tcp/rabbitmq/5672; printf 'AMQP\0\0\11\1' >&3
test "$(head -c 1 <&3 | od -An -tx1 | tr -d ' ')" = 01
env HOME=/tmp/services/rabbitmq /usr/lib/rabbitmq/bin/rabbitmqctl -q -n rabbit@localhost authenticate_user app s3cret >/dev/null
env HOME=/tmp/services/rabbitmq /usr/lib/rabbitmq/bin/rabbitmqctl -q -n rabbit@localhost list_vhosts name | grep -qx jobs
exec 4<>/dev/tcp/memcached/11211; printf 'set a 0 0 2\r\nhi\r\nget a\r\nquit\r\n' >&4
test "$(tr -d '\r' <&4 | tr '\n' ' ')" = 'STORED VALUE a 0 2 hi END '
exec 5<>/dev/tcp/localhost/1883; printf '\20\15\0\4MQTT\4\2\0\74\0\1a' >&5
test "$(head -c 4 <&5 | od -An -tx1 | tr -d ' ')" = 20020000
END
`
	if c, err := b.judge(id, all); err != nil || !c.Passed || c.Output != "" {
		t.Fatalf("%v %+v", err, c)
	}
}

// killPostgres ends the server as an accident would.
const killPostgres = `kill -9 "$(head -n 1 /tmp/services/postgres/data/postmaster.pid)"; sleep 1; `

// A check that fails beside a service that has ended says so, and not that there is none. On
// the base that is not a verdict: it would excuse the failures of all work to come. Nor is it where a test is to fail. One
// that the check has restarted serves, and one that the gate ends behind the check has lasted.
func TestServiceThatEnds(t *testing.T) {
	t.Parallel()
	id := serviceImage(t, service.Wish{Name: "postgres"})
	b := setup(t, nil).withDocker()
	const ended = toolproto.ServiceEnded + "postgres]"
	restartScript := killPostgres + `rm /tmp/services/postgres/data/postmaster.pid
PATH=$PATH:/usr/lib/postgresql/15/bin; setsid postgres -D /tmp/services/postgres/data >/dev/null 2>&1 &
until pg_isready -q; do sleep 0.1; done; exit 3`
	plain := company.GateCommand{Name: gates.Test, Parse: testreport.FormatPlain}
	file := company.GateCommand{Name: gates.Test, Parse: "junit"}
	for _, c := range []struct {
		name, command string
		gate          company.GateCommand
		code          int
		ended         bool
	}{
		{"it is asked for", killPostgres + `psql -c 'select 1'`, plain, 2, true},
		{"nothing is said", killPostgres + `exit 3`, company.GateCommand{Name: gates.Test}, 3, true},
		{"with a report", killPostgres + `exit 3`, file, 3, true},
		{"it lasted", "exit 3", file, 3, false},
		{"it is restarted", restartScript, plain, 3, false},
		{"it is needed no more", killPostgres + "true", plain, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := b.job("", "")
			j.Image, c.gate.Command = gates.ImageByID(id), c.command
			j.Gates = []company.GateCommand{c.gate}
			check, _, err := b.runner.RunOnce(b.ctx, j)
			if err != nil || check.ExitCode != c.code || strings.Contains(check.Output, ended) != c.ended ||
				strings.Contains(check.Output, "gates.services") {
				t.Errorf("%v %+v", err, check)
			}
			j.Baseline = true
			res, err := b.runner.Run(b.ctx, j)
			if c.ended != (err != nil) || c.ended &&
				(!company.NeedsPerson(err) || !strings.Contains(err.Error(), "the service postgres ended") ||
					!strings.Contains(company.DetailsOf(err), "[the end of /tmp/services/postgres/log]")) {
				t.Errorf("on the base: %v %+v", err, res)
			}
			if j.Baseline = false; c.ended { // a test that is to fail without its change
				if j.Files, err = b.mirror.List(b.ctx, j.Tree); err != nil {
					t.Fatal(err)
				}
				if check, _, err := b.runner.RunOnce(b.ctx, j); err == nil {
					t.Errorf("it fails as it should: %+v", check)
				}
			}
		})
	}
}

// A database that ends because its disk is full is not a question for the president while the host has
// more room: the check is run again with it, on the base as elsewhere.
func TestServiceThatFillsItsDisk(t *testing.T) {
	hosttest.Long(t, "one of many kinds of checks")
	id := serviceImage(t, service.Wish{Name: "redis"},
		service.Wish{Name: "mysql",
			Account: service.Account{User: "app", Password: "s3cret", Database: "app_test", AdminPassword: "top"}})
	b := setup(t, nil).withDocker()
	b.runner.LimitsByProject = container.NewSizes(b.runner.Limits, 9*container.GiB)
	var told []string
	// InnoDB ends itself at some writes on a full disk, and at others it does not: here it always does.
	j := b.job(
		"", `dd if=/dev/zero of=/tmp/services/mysql/data/t.ibd bs=1M count=300 || { kill -9 "$(cat /tmp/services/mysql/pid)"; sleep 1; exit 1; }`)
	j.Image, j.Baseline = gates.ImageByID(id), true
	j.OnCheckStarted = func(name string) { told = append(told, name) }
	res, err := b.runner.Run(b.ctx, j)
	if err != nil || !res.Passed || len(told) != 2 || !strings.Contains(told[1], "with more room for its files") {
		t.Errorf("%+v, %v, told %q\n%s", res, err, told, company.DetailsOf(err))
	}
}
