// Package page is the page of an office in a browser: the files that are built from web/,
// and the handler that serves them.
//
// It owns the headers that a browser holds the page to: its own scripts, styles and
// connections alone, in no frame of another page. It promises that a route of the page
// answers with the page, that an asset is kept by a browser for good, and that the built
// files belong to the sources beside them: a test compares hashes, without Node. It knows
// nothing of the office; the page asks the API for that, with the token of its user.
package page
