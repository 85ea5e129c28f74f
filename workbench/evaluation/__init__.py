"""Measuring searches and answers on labelled questions: files of questions, metrics, intervals, sweeps."""
