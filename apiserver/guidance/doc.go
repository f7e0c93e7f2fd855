// SPDX-License-Identifier: Apache-2.0

// Package guidance has the data of surveys: users, who sign in and answer, patients,
// whose health it is about, surveys with their steps, and what they come to. It is
// pure: what comes in is checked and brought into the form in which it is compared;
// where it is kept, who may see it and how it travels are the business of others.
// What sections ask is said in package section, how a survey goes in package survey;
// both stand on this one.
package guidance
