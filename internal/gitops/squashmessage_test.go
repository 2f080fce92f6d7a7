package gitops

import "testing"

// The message of a squashed commit is wrapped, holds no command and no trailer but our own.
func TestSquashMessage(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"As @ann asked, a@b.example (@acme/team)": "Keep commas\n\nAs @ ann asked, a@b.example (@ " +
			"acme/team)\n\nTicket: t1-01\n",
		"Co-authored-by : X <a@b>": "Keep commas\n\n> Co-authored-by : X <a@b>\n\nTicket: t1-01\n",
		"":                         "Keep commas\n\nTicket: t1-01\n",
		"Quoted fields lost the last comma, since the reader looked for the quote behind it alone. Fixes #7.": "Keep commas\n\nQuoted fields lost the last comma, since the reader looked for the quote\nbehind it alone. Fixes (#7).\n\nTicket: t1-01\n",
		"Done.\n\nTicket: t9-01\nSigned-off-by: A <a@b>":                                                      "Keep commas\n\nDone.\n\n> Ticket: t9-01\n> Signed-off-by: A <a@b>\n\nTicket: t1-01\n",
	} {
		if got := SquashMessage("t1-01", "Keep  commas", body); got != want {
			t.Errorf("%q\nnot %q", got, want)
		}
	}
	if got := signOff("a\n\nTicket: t1-01\n",
		Person{"A", "a@b"}); got != "a\n\nTicket: t1-01\nSigned-off-by: A <a@b>\n" {
		t.Errorf("signed off: %q", got)
	}
}
