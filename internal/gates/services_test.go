package gates_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/container/docker"
	"company/internal/hosttest"
	"company/internal/image"
	"company/internal/service"
)

// serviceImage makes the image with these services beside commands.
func serviceImage(t *testing.T, wishes ...service.Wish) string {
	t.Helper()
	hosttest.NeedsDocker(t)
	hosttest.Long(t, "installs servers of Debian, where no earlier test has")
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
	img, err := b.Ensure(ctx, image.Request{Services: wishes})
	if err != nil {
		t.Fatal(err, company.DetailsOf(err))
	}
	return img.ID
}

// judge runs one command as the test gate of the project.
func (b *bundle) judge(image, command string) (company.GateCheck, error) {
	b.t.Helper()
	j := b.job("", command)
	j.Image = image
	began := time.Now()
	res, err := b.runner.Run(b.ctx, j)
	b.t.Logf("%s: %s", command, time.Since(began).Round(time.Millisecond))
	if err != nil {
		return company.GateCheck{}, err
	}
	return res.Checks[0], nil
}

// A check finds Postgres under the names of the variables that clients read, and by
// those that the project gives; each container has a fresh one.
func TestChecksFindPostgres(t *testing.T) {
	id := serviceImage(t, service.Wish{Name: "postgres", Account: service.Account{User: "app", Password: "s3cret", Database: "app_test"}})
	b := setup(t, nil).withDocker()
	const made = `set -e
test "$(psql -tAc "select current_user || ' ' || current_database() || ' ' || current_setting('server_encoding')")" = "app app_test UTF8"
psql "$DATABASE_URL" -qc "create table t (x int); create extension pgcrypto; insert into t values (1)"
test "$(PGPASSWORD=other psql -h localhost -U postgres -d app_test -tAc 'select count(*) from t')" = 1
env -u PGHOST psql -tAc 'select 1' >/dev/null
test "$DATABASE_URL" = 'postgres://app:s3cret@127.0.0.1:5432/app_test?sslmode=disable'
test ! -w /opt/services/postgres/data/PG_VERSION
`
	for range 2 { // were the second one not fresh, the table would be there
		if c, err := b.judge(id, made); err != nil || !c.Passed || c.Output != "" {
			t.Fatalf("%v %+v", err, c)
		}
	}
	c, err := b.judge(id, `psql -c 'select no_such_column'`)
	if err != nil || c.Passed || c.ExitCode != 1 || !strings.Contains(c.Output, "[the end of /tmp/services/postgres/log]") || !strings.Contains(c.Output, "STATEMENT:  select no_such_column") {
		t.Errorf("%v %+v", err, c)
	}
}

// Where a service cannot start, that is no verdict: the error has the end of its log,
// and no second try is made.
func TestServiceThatCannotStart(t *testing.T) {
	id := serviceImage(t, service.Wish{Name: "postgres"})
	b := setup(t, nil).withDocker()
	b.runner.Limits.Pids = 10 // which Postgres alone needs
	_, err := b.judge(id, "true")
	if company.CodeOf(err) != company.EGates || !company.NeedsPerson(err) || !strings.Contains(err.Error(), "postgres did not start") || !strings.Contains(err.Error(), "fork") {
		t.Fatalf("%v\n%s", err, company.DetailsOf(err))
	}
	if len(b.rt.specs) != 1 {
		t.Errorf("%d containers were started", len(b.rt.specs))
	}
}

// A check finds Redis and MariaDB, by address, by name and by socket. The variable that
// all databases share is the first one's.
func TestChecksFindRedisAndMySQL(t *testing.T) {
	id := serviceImage(t, service.Wish{Name: "redis"}, service.Wish{Name: "mysql", Account: service.Account{User: "app", Password: "s3cret", Database: "app_test", AdminPassword: "top"}})
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
