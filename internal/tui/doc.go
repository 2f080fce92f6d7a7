// Package tui is the full-screen view of an office: company watch.
//
// It owns the screens of a terminal (overview, task, questions, keys), which key does
// what there, and the connection that feeds them: it follows the feed, reads the office
// anew at most four times a second, and connects again where the company ends. What the
// screens say of tasks, runs and gates is rendered by packages view and feed, as
// the other commands print it.
//
// It promises that text of models and repositories reaches the terminal escaped, that a
// command which ends work is confirmed first, and that it holds no office: where no
// company is at work it opens the office for each look, and lets go of it. It decides
// nothing about tasks.
package tui
