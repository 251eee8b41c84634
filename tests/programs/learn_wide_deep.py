"""tf.contrib.learn: a linear model, a network and both together on a table of
people, with columns of tf.contrib.layers, and the SavedModels that they give."""
import tempfile

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
layers, learn = tf.contrib.layers, tf.contrib.learn
PEOPLE = 120
CONTINUOUS = ["age", "hours"]
CATEGORIES = ["gender", "education", "occupation", "country"]

random = np.random.RandomState(0)
table = {
    "age": random.randint(17, 80, PEOPLE),
    "hours": random.randint(1, 80, PEOPLE),
    "gender": random.choice(["Male", "Female"], PEOPLE),
    "education": random.choice(["BS", "MS", "PhD", "HS"], PEOPLE),
    "occupation": random.choice(["a", "b", "c", "d", "e"], PEOPLE),
    "country": random.choice(["US", "MX", "IN"], PEOPLE)}
label = ((table["age"] > 40) & (table["hours"] > 30)).astype(int)


def input_fn():
    features = {k: tf.constant(table[k]) for k in CONTINUOUS}
    features.update({k: tf.SparseTensor(
        indices=[[i, 0] for i in range(PEOPLE)], values=table[k],
        dense_shape=[PEOPLE, 1]) for k in CATEGORIES})
    return features, tf.constant(label)


gender = layers.sparse_column_with_keys("gender", keys=["Female", "Male"])
education = layers.sparse_column_with_hash_bucket("education", 1000)
occupation = layers.sparse_column_with_hash_bucket("occupation", 1000)
country = layers.sparse_column_with_hash_bucket("country", 1000)
age = layers.real_valued_column("age")
hours = layers.real_valued_column("hours")
ages = layers.bucketized_column(age, [18, 25, 30, 35, 40, 45, 50, 55, 60, 65])
WIDE = [gender, education, occupation, country, ages,
        layers.crossed_column([education, occupation], 10000),
        layers.crossed_column([ages, education, occupation], 1000000),
        layers.crossed_column([country, occupation], 10000)]
DEEP = [layers.embedding_column(c, 8)
        for c in (education, gender, country, occupation)] + [age, hours]

config = learn.RunConfig(tf_random_seed=42)
MODELS = {
    "wide": learn.LinearClassifier(
        WIDE, model_dir=tempfile.mkdtemp(), config=config),
    "deep": learn.DNNClassifier(
        [30, 20], DEEP, model_dir=tempfile.mkdtemp(), config=config),
    "both": learn.DNNLinearCombinedClassifier(
        model_dir=tempfile.mkdtemp(), linear_feature_columns=WIDE,
        dnn_feature_columns=DEEP, dnn_hidden_units=[30, 20],
        fix_global_step_increment_bug=True, config=config)}

for name in sorted(MODELS):
    model = MODELS[name]
    model.fit(input_fn=input_fn, steps=20)
    results = model.evaluate(input_fn=input_fn, steps=1)
    for key in sorted(results):
        print("%s %s: %.5f" % (name, key, results[key]))
    for variable in sorted(model.get_variable_names()):
        print(name, variable)
    print(name, *["%d" % p for p in list(
        model.predict(input_fn=input_fn))[:20]])
    serving = learn.build_parsing_serving_input_fn(
        layers.create_feature_spec_for_parsing(WIDE + DEEP))
    folder = model.export_savedmodel(tempfile.mkdtemp(), serving)
    example = tf.train.Example()
    for key in CONTINUOUS:
        example.features.feature[key].float_list.value.append(
            float(table[key][0]))
    for key in CATEGORIES:
        example.features.feature[key].bytes_list.value.append(
            str(table[key][0]).encode())
    with tf.Graph().as_default(), tf.Session() as session:
        signatures = tf.saved_model.loader.load(
            session, ["serve"], folder).signature_def
        for key in sorted(signatures):
            print(name, key, signatures[key].method_name, *sorted(
                t.name for t in signatures[key].outputs.values()))
        served = signatures["serving_default"]
        print(name, "served: %.5f %.5f" % tuple(session.run(
            served.outputs["scores"].name,
            {served.inputs["inputs"].name: [example.SerializeToString()]})[0]))
