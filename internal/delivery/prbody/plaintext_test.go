package prbody

import "testing"

// People read a pull request's text as it was meant, not as a forge needs it.
func TestPlainText(t *testing.T) {
	got := PlainText("<!-- company office=k3fq task=t1 title=00000000 -->\n# Add @\u200btypes/node: a -&gt; b &lt;c&gt; " +
		"&amp;lt; | x\\|y\n<details><summary>Costs</summary>\n\ntext\n</details>\n<!-- /company -->\n")
	if want := "# Add @types/node: a -> b <c> &lt; | x|y\n-- Costs --\n\ntext\n"; got != want {
		t.Errorf("%q", got)
	}
}
